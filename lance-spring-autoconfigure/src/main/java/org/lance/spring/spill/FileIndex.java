/*
 * Copyright 2026-present the original author or authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package org.lance.spring.spill;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.apache.arrow.vector.types.pojo.Field;
import org.jspecify.annotations.Nullable;

/**
 * Where the messages of a file are, kept outside the file, so that nothing has to be
 * believed that is read from it. 24 bytes for a batch, 32 where bodies may be compressed,
 * in pages of primitive arrays.
 * <p>
 * One thread adds; any number look up meanwhile and see whole batches only.
 */
final class FileIndex {

	private final Messages batches;

	private final Messages dictionaries;

	private final List<Field> dictionaryFields = new ArrayList<>();

	/**
	 * The dictionary messages that were valid at a batch, one for each dictionary of the
	 * schema; batches in a row with the same ones share an entry.
	 */
	private final List<int[]> states = new ArrayList<>();

	private long committed;

	private boolean finished;

	FileIndex(SpillFormat format) {
		this.batches = new Messages(format);
		this.dictionaries = new Messages(format);
	}

	/**
	 * Returns the number of batches.
	 */
	synchronized int batches() {
		return this.batches.size;
	}

	/**
	 * Returns the bytes up to the end of the last batch.
	 */
	synchronized long committed() {
		return this.committed;
	}

	synchronized void commitSchema(long length) {
		this.committed = length;
		this.states.add(new int[0]);
	}

	/**
	 * Adds a batch and the dictionary messages before it.
	 * @param state the numbers of the dictionary messages valid at the batch, or
	 * {@code null} if they are those of the batch before
	 */
	synchronized void commit(List<DictionaryEntry> news, int @Nullable [] state, Position batch) {
		for (DictionaryEntry entry : news) {
			this.dictionaries.add(entry.position, entry.previous);
			this.dictionaryFields.add(entry.field);
		}
		if (state != null) {
			this.states.add(state);
		}
		this.batches.add(batch, this.states.size() - 1);
		this.committed = batch.end();
	}

	/**
	 * Says that nothing more is written.
	 */
	synchronized void finish() {
		this.finished = true;
	}

	synchronized boolean isFinished() {
		return this.finished;
	}

	synchronized Position batch(int index) {
		return this.batches.position(index);
	}

	/**
	 * Returns the numbers of the dictionary messages that are valid at a batch.
	 */
	synchronized int[] dictionaries(int batch) {
		return this.states.get(this.batches.extra(batch));
	}

	synchronized DictionaryEntry dictionary(int number) {
		return new DictionaryEntry(this.dictionaries.position(number), this.dictionaries.extra(number),
				this.dictionaryFields.get(number));
	}

	/**
	 * Where a message is.
	 *
	 * @param offset its first byte
	 * @param metadataLength the bytes before its body
	 * @param bodyLength the bytes of its body
	 * @param uncompressedLength the bytes of its body when it is decompressed, or 0 if it
	 * is not compressed
	 * @param encrypted whether it is encrypted; the other lengths are those before
	 * @param crc the checksum of all bytes, 0 if it is encrypted
	 */
	record Position(long offset, int metadataLength, long bodyLength, long uncompressedLength, boolean encrypted,
			int crc) {

		Position(long offset, int metadataLength, long bodyLength, int crc) {
			this(offset, metadataLength, bodyLength, 0, false, crc);
		}

		boolean isCompressed() {
			return this.uncompressedLength > 0;
		}

		/**
		 * The bytes of the message.
		 */
		long messageLength() {
			return this.metadataLength + this.bodyLength;
		}

		/**
		 * The bytes that it takes in the file.
		 */
		long length() {
			return this.encrypted ? FileCipher.storedLength(messageLength()) : messageLength();
		}

		MessagePieces pieces() {
			return new MessagePieces(this.offset, length());
		}

		long end() {
			return this.offset + length();
		}

	}

	/**
	 * A dictionary message.
	 *
	 * @param position where it is
	 * @param previous the number of the dictionary message that it continues, or -1
	 * @param field the field of its values
	 */
	record DictionaryEntry(Position position, int previous, Field field) {

	}

	/**
	 * Three or four numbers for each message. Pages, because one array would be copied
	 * again and again while it grows.
	 */
	private static final class Messages {

		private static final int PER_PAGE = 1024;

		/**
		 * Messages are multiples of 8 bytes; lengths are counted in those.
		 */
		private static final int UNIT = 8;

		private static final int METADATA_BITS = 28;

		private final int fields;

		private final boolean encrypted;

		private long[][] pages = new long[1][];

		private int size;

		Messages(SpillFormat format) {
			this.fields = format.isCompressed() ? 4 : 3;
			this.encrypted = format.encrypted();
		}

		void add(Position position, int extra) {
			int page = this.size / PER_PAGE;
			if (page == this.pages.length) {
				this.pages = Arrays.copyOf(this.pages, this.pages.length * 2);
			}
			if (this.pages[page] == null) {
				// The first page is often the only one, and short.
				this.pages[page] = new long[(page == 0) ? UNIT * this.fields : PER_PAGE * this.fields];
			}
			int at = (this.size % PER_PAGE) * this.fields;
			if (at == this.pages[page].length) {
				this.pages[page] = Arrays.copyOf(this.pages[page], Math.min(at * 2, PER_PAGE * this.fields));
			}
			this.pages[page][at] = position.offset;
			this.pages[page][at + 1] = (position.bodyLength / UNIT) << METADATA_BITS | (position.metadataLength / UNIT);
			this.pages[page][at + 2] = (long) extra << Integer.SIZE | Integer.toUnsignedLong(position.crc);
			if (this.fields > 3) {
				this.pages[page][at + 3] = position.uncompressedLength;
			}
			this.size++;
		}

		Position position(int index) {
			long[] page = page(index);
			int at = (index % PER_PAGE) * this.fields;
			long lengths = page[at + 1];
			return new Position(page[at], (int) (lengths & ((1 << METADATA_BITS) - 1)) * UNIT,
					(lengths >>> METADATA_BITS) * UNIT, (this.fields > 3) ? page[at + 3] : 0, this.encrypted,
					(int) page[at + 2]);
		}

		int extra(int index) {
			return (int) (page(index)[(index % PER_PAGE) * this.fields + 2] >> Integer.SIZE);
		}

		private long[] page(int index) {
			if (index < 0 || index >= this.size) {
				throw new IndexOutOfBoundsException("There is no message %d of %d".formatted(index, this.size));
			}
			return this.pages[index / PER_PAGE];
		}

	}

}
