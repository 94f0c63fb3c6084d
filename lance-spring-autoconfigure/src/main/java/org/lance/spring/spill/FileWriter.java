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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.vector.types.pojo.Field;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.IpcEncoder;
import org.lance.spring.stream.RecordBatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the messages of a spill, in pieces by gathering writes, from the memory of the
 * batch unless it is encrypted. The index is told when all that one batch needs was
 * written.
 * <p>
 * One thread at a time.
 */
final class FileWriter {

	private static final Logger logger = LoggerFactory.getLogger(FileWriter.class);

	private final SpillFileSystem fileSystem;

	private final Path file;

	private final SpillFileSystem.SpillChannel channel;

	private final FileIndex index;

	private final FileWindows windows;

	private final FileSpace space;

	private final FileErrors errors;

	private final MessageEncoder encoder;

	private final PlainOutput plain;

	private final boolean checksums;

	private final @Nullable EncryptedOutput encrypted;

	/**
	 * The last dictionary message of each dictionary, in the order in which they came
	 * first.
	 */
	private final Map<Long, Integer> dictionaries = new LinkedHashMap<>();

	private int dictionaryMessages;

	private volatile long written;

	private @Nullable Throwable failure;

	private boolean finished;

	/**
	 * Creates a writer.
	 * @param checksums whether the checksums of messages that are not compressed are
	 * needed
	 * @param cipher encrypts what is written, or {@code null} for nothing
	 * @param allocator where it is encrypted
	 */
	FileWriter(SpillFileSystem fileSystem, Path file, SpillFileSystem.SpillChannel channel, MessageEncoder encoder,
			boolean checksums, @Nullable FileCipher cipher, BufferAllocator allocator, FileIndex index,
			FileWindows windows, FileSpace space, FileErrors errors, SpareThreads spareThreads) {
		this.fileSystem = fileSystem;
		this.file = file;
		this.channel = channel;
		this.index = index;
		this.windows = windows;
		this.space = space;
		this.errors = errors;
		this.encoder = encoder;
		this.checksums = checksums;
		this.plain = new PlainOutput(this::write, spareThreads);
		this.encrypted = (cipher != null) ? new EncryptedOutput(cipher, allocator, this::reserveAndWrite) : null;
	}

	/**
	 * Returns the bytes written, also those of a batch that was not written to its end.
	 */
	long written() {
		return this.written;
	}

	void start(Map<Long, Field> dictionaryFields) {
		guarded(() -> {
			write(FileCipher.Kind.SCHEMA, this.encoder.schema(dictionaryFields));
			this.index.commitSchema(this.written);
		});
	}

	void append(RecordBatch batch) {
		checkUsable();
		guarded(() -> {
			try {
				encodeAndWrite(batch);
			}
			finally {
				this.encoder.release();
			}
		});
	}

	private void encodeAndWrite(RecordBatch batch) throws IOException {
		long start = this.written;
		List<IpcEncoder.DictionaryMessage> dictionaryMessages = this.encoder.dictionaries(batch);
		IpcEncoder.Message message = this.encoder.batch(batch);
		List<FileIndex.DictionaryEntry> news = new ArrayList<>(dictionaryMessages.size());
		long time = this.encoder.time();
		for (IpcEncoder.DictionaryMessage dictionary : dictionaryMessages) {
			FileIndex.Position where = write(FileCipher.Kind.DICTIONARY, dictionary.message());
			Long id = dictionary.version().id();
			int previous = dictionary.delta() ? this.dictionaries.getOrDefault(id, -1) : -1;
			news.add(new FileIndex.DictionaryEntry(where, previous, dictionary.version().field()));
			this.dictionaries.put(id, this.dictionaryMessages++);
		}
		FileIndex.Position where = write(FileCipher.Kind.BATCH, message);
		this.encoder.written(this.written - start, time);
		this.index.commit(news, news.isEmpty() ? null : state(), where);
		this.windows.committed(start, where.end());
	}

	private int[] state() {
		return this.dictionaries.values().stream().mapToInt(Integer::intValue).toArray();
	}

	/**
	 * Writes a message. The tags of an encrypted one say more than a checksum.
	 * @return where it is
	 */
	private FileIndex.Position write(FileCipher.Kind kind, IpcEncoder.Message message) throws IOException {
		long offset = this.written;
		int checksum = 0;
		if (this.encrypted != null) {
			this.encrypted.write(kind, message, offset);
		}
		else {
			reserve(message.length());
			boolean needed = this.checksums || message.uncompressedLength() > 0;
			checksum = this.plain.write(message, offset, needed);
		}
		return new FileIndex.Position(offset, message.metadataLength(), message.bodyLength(),
				message.uncompressedLength(), this.encrypted != null, checksum);
	}

	/**
	 * Writes the end marker, and nothing after it.
	 */
	void finish() {
		checkUsable();
		guarded(() -> {
			try {
				write(FileCipher.Kind.END, this.encoder.end());
				this.channel.close();
			}
			catch (Throwable ex) {
				removeEndMarker();
				throw ex;
			}
			this.finished = true;
			this.encoder.close();
			this.index.finish();
			this.windows.finished(this.index.committed());
		});
	}

	/**
	 * A file that failed must not look complete.
	 */
	private void removeEndMarker() {
		try (SpillFileSystem.SpillChannel again = this.fileSystem.open(this.file)) {
			if (Objects.equals(again.key(), this.channel.key())) {
				again.truncate(this.index.committed());
			}
		}
		catch (IOException ex) {
			logger.debug("Can't cut the failed spill file {}", this.file, ex);
		}
	}

	private void reserve(long bytes) throws IOException {
		checkFile();
		this.space.reserve(bytes);
	}

	private void reserveAndWrite(ByteBuffer[] piece) throws IOException {
		reserve(SpillFileSystem.SpillChannel.remaining(piece, 0));
		write(piece);
	}

	private void write(ByteBuffer[] buffers) throws IOException {
		int first = 0;
		while (true) {
			while (first < buffers.length && !buffers[first].hasRemaining()) {
				first++;
			}
			if (first == buffers.length) {
				return;
			}
			try {
				long count = this.channel.write(this.written, buffers, first);
				if (count <= 0) {
					throw new IOException("The disk takes no more bytes");
				}
				this.written += count;
			}
			catch (IOException ex) {
				this.space.failed(ex);
				long wanted = SpillFileSystem.SpillChannel.remaining(buffers, first);
				throw this.errors.writing(ex, this.written, wanted, noSpace(wanted));
			}
		}
	}

	/**
	 * Many systems let a removed file be written, for nobody.
	 */
	private void checkFile() throws IOException {
		if (!Objects.equals(this.fileSystem.state(this.file).key(), this.channel.key())) {
			throw new NoSuchFileException(this.file.toString(), null, "another file is in its place");
		}
	}

	/**
	 * The text of the failure may be in any language, so the disk is asked as well.
	 */
	private boolean noSpace(long wanted) {
		try {
			return this.fileSystem.volume(this.file).usable() < wanted;
		}
		catch (IOException ex) {
			return false;
		}
	}

	private void checkUsable() {
		if (this.failure != null) {
			throw new IllegalStateException("The file of this spill failed before", this.failure);
		}
		if (this.finished) {
			throw new IllegalStateException("The file of this spill is finished");
		}
	}

	private void guarded(Work work) {
		try {
			work.run();
		}
		catch (IOException ex) {
			this.space.failed(ex);
			throw fail(this.errors.writing(ex, this.written, 0, false));
		}
		catch (OutOfMemoryException ex) {
			throw fail(this.errors.noMemoryToWrite(ex, this.index.batches()));
		}
		catch (RuntimeException | Error ex) {
			fail(ex);
			throw ex;
		}
	}

	private <T extends Throwable> T fail(T ex) {
		this.failure = ex;
		close();
		return ex;
	}

	/**
	 * Ends writing. Idempotent.
	 */
	void close() {
		this.encoder.close();
		try {
			this.channel.close();
		}
		catch (IOException ex) {
			logger.debug("Can't close the spill file {}", this.file, ex);
		}
	}

	/**
	 * What makes the file fail for good if it fails.
	 */
	private interface Work {

		void run() throws IOException;

	}

}
