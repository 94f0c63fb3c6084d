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

package org.lance.spring.source;

import java.nio.ByteBuffer;
import java.util.List;

import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.RecordBatch;

/**
 * What the messages of one IPC stream mean: the schema first, then dictionaries and
 * batches.
 */
final class IpcMessages implements AutoCloseable {

	private final BufferAllocator allocator;

	private final IpcBodyReader reader;

	private @Nullable IpcSchema schema;

	private @Nullable IpcDictionaries dictionaries;

	private @Nullable IpcLayout layout;

	private @Nullable Message message;

	private boolean unions;

	private boolean file;

	private long batchCount;

	private long dictionaryCount;

	IpcMessages(BufferAllocator allocator) {
		this.allocator = allocator;
		this.reader = new IpcBodyReader(allocator);
	}

	/**
	 * Says that the messages are those of the file format.
	 */
	void file() {
		this.file = true;
	}

	@Nullable IpcSchema schema() {
		return this.schema;
	}

	/**
	 * Takes the metadata of the next message.
	 * @return the length of its body
	 */
	long metadata(ByteBuffer metadata, long position) {
		Message next = Message.getRootAsMessage(metadata);
		byte type = next.headerType();
		checkVersion(next.version());
		if ((type == MessageHeader.Schema) == (this.schema != null)) {
			throw new MalformedIpcException((this.schema != null) ? "There is a second schema at byte " + position
					: "The first message is no schema, but has the type " + name(type));
		}
		if (type != MessageHeader.Schema && type != MessageHeader.RecordBatch
				&& type != MessageHeader.DictionaryBatch) {
			throw new UnsupportedIpcException(
					"The message at byte %d is of type %s. Only schema, dictionaries and record batches are taken"
						.formatted(position, name(type)));
		}
		if (next.bodyLength() < 0) {
			throw new MalformedIpcException(
					"The message at byte %d says that its body has %d bytes".formatted(position, next.bodyLength()));
		}
		if (type == MessageHeader.Schema) {
			readSchema(next, metadata.remaining());
		}
		this.message = next;
		return next.bodyLength();
	}

	private void checkVersion(short version) {
		if (version < MetadataVersion.V4) {
			throw new UnsupportedIpcException(
					"The Arrow data are in a format from before Arrow 0.8 (metadata version V%d). Write them with a newer Arrow"
						.formatted(version + 1));
		}
		if (version > MetadataVersion.V5) {
			throw new UnsupportedIpcException(
					"The Arrow data have the unknown metadata version V%d. Write them with metadata version V5"
						.formatted(version + 1));
		}
		if (version < MetadataVersion.V5 && this.unions) {
			throw new UnsupportedIpcException("A batch has unions in the old layout (metadata version V4), which Arrow "
					+ "Java can't read. Write it with Arrow 1.0 or newer");
		}
	}

	private static String name(byte type) {
		return (type >= 0 && type < MessageHeader.names.length) ? MessageHeader.name(type) : "number " + type;
	}

	private void readSchema(Message next, int metadataLength) {
		Schema table = header(next, new Schema());
		IpcSchema read = IpcSchemaReader.read(table, next.version(), metadataLength, this.allocator);
		this.dictionaries = new IpcDictionaries(read.dictionaryFields(), this.file, this.reader, this.allocator);
		this.layout = IpcLayout.of(read.schema().getFields());
		this.unions = IpcLayout.hasUnion(read.schema().getFields())
				|| IpcLayout.hasUnion(read.dictionaryFields().values());
		this.schema = read;
	}

	@SuppressWarnings("unchecked")
	private static <T extends com.google.flatbuffers.Table> T header(Message message, T table) {
		com.google.flatbuffers.Table header = message.header(table);
		if (header == null) {
			throw new MalformedIpcException("A message has no header");
		}
		return (T) header;
	}

	/**
	 * Takes the body of the message.
	 * @param body the body, borrowed
	 * @return a batch, owned by the caller, or {@code null} if it was none
	 */
	@Nullable RecordBatch body(IpcBody body) {
		Message current = this.message;
		IpcSchema known = this.schema;
		IpcLayout expected = this.layout;
		IpcDictionaries versions = this.dictionaries;
		if (current == null || known == null || expected == null || versions == null) {
			throw new IllegalStateException("There is no message now");
		}
		this.message = null;
		if (current.headerType() == MessageHeader.DictionaryBatch) {
			versions.accept(header(current, new DictionaryBatch()), body);
			this.dictionaryCount++;
			return null;
		}
		if (current.headerType() == MessageHeader.RecordBatch) {
			org.apache.arrow.flatbuf.RecordBatch table = header(current, new org.apache.arrow.flatbuf.RecordBatch());
			List<org.lance.spring.stream.DictionaryVersion> valid = versions.versions();
			RecordBatch batch = this.reader.read(() -> "batch " + this.batchCount, table, body, expected,
					(values) -> RecordBatch.seal(known.schema(), values, valid, this.allocator));
			this.batchCount++;
			return batch;
		}
		return null;
	}

	/**
	 * Checks everything behind the end marker of a file.
	 */
	void checkFooter(ByteBuffer bytes, long position) {
		IpcFooter.check(bytes, position, this.batchCount, this.dictionaryCount);
	}

	@Override
	public void close() {
		if (this.dictionaries != null) {
			this.dictionaries.close();
		}
	}

}
