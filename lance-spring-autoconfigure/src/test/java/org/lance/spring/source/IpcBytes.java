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

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import com.google.flatbuffers.FlatBufferBuilder;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.compression.CompressionCodec;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.ipc.ArrowWriter;
import org.apache.arrow.vector.ipc.WriteChannel;
import org.apache.arrow.vector.ipc.message.ArrowDictionaryBatch;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Makes Arrow IPC data, right and wrong, message by message.
 */
final class IpcBytes {

	static final byte[] END = { -1, -1, -1, -1, 0, 0, 0, 0 };

	private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

	private final WriteChannel channel = new WriteChannel(Channels.newChannel(this.bytes));

	/**
	 * Starts a stream.
	 * @param schema the schema in message format: dictionary columns have their value
	 * type
	 */
	IpcBytes schema(Schema schema) {
		return write(() -> MessageSerializer.serialize(this.channel, schema));
	}

	/**
	 * Adds a batch of filled vectors.
	 */
	IpcBytes batch(Schema memorySchema, Consumer<VectorSchemaRoot> filler) {
		return batch(memorySchema, NoCompressionCodec.INSTANCE, filler);
	}

	IpcBytes batch(Schema memorySchema, CompressionCodec codec, Consumer<VectorSchemaRoot> filler) {
		return unload(memorySchema, codec, filler, (body) -> MessageSerializer.serialize(this.channel, body));
	}

	/**
	 * Adds a dictionary message of filled values.
	 */
	IpcBytes dictionary(long id, boolean delta, Field values, Consumer<FieldVector> filler) {
		return unload(new Schema(List.of(values)), NoCompressionCodec.INSTANCE, (root) -> {
			filler.accept(root.getVector(0));
			root.setRowCount(root.getVector(0).getValueCount());
		}, (body) -> MessageSerializer.serialize(this.channel, new ArrowDictionaryBatch(id, body, delta)));
	}

	IpcBytes raw(byte[] data) {
		this.bytes.writeBytes(data);
		return this;
	}

	byte[] end() {
		return raw(END).toByteArray();
	}

	byte[] toByteArray() {
		return this.bytes.toByteArray();
	}

	private IpcBytes unload(Schema schema, CompressionCodec codec, Consumer<VectorSchemaRoot> filler,
			BodyWriter writer) {
		try (BufferAllocator allocator = new RootAllocator();
				VectorSchemaRoot root = VectorSchemaRoot.create(schema, allocator)) {
			filler.accept(root);
			try (ArrowRecordBatch body = new VectorUnloader(root, true, codec, true).getRecordBatch()) {
				return write(() -> writer.write(body));
			}
		}
	}

	private IpcBytes write(Writing writing) {
		try {
			writing.run();
			return this;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A whole stream of batches of one schema, by Arrow's own writer.
	 */
	static byte[] stream(VectorSchemaRoot root, @Nullable DictionaryProvider dictionaries, Runnable... fillers) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		return write(new ArrowStreamWriter(root, dictionaries, out), out, fillers);
	}

	/**
	 * A whole file of batches of one schema, by Arrow's own writer.
	 */
	static byte[] file(VectorSchemaRoot root, @Nullable DictionaryProvider dictionaries, Runnable... fillers) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		return write(new ArrowFileWriter(root, dictionaries, Channels.newChannel(out)), out, fillers);
	}

	private static byte[] write(ArrowWriter writer, ByteArrayOutputStream out, Runnable... fillers) {
		try (writer) {
			writer.start();
			for (Runnable filler : fillers) {
				filler.run();
				writer.writeBatch();
			}
			writer.end();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return out.toByteArray();
	}

	/**
	 * A message with its marker, length and padding.
	 */
	static byte[] message(byte[] metadata, byte[] body) {
		int padded = (metadata.length + 7) & -8;
		return ByteBuffer.allocate(8 + padded + body.length)
			.order(ByteOrder.LITTLE_ENDIAN)
			.putInt(-1)
			.putInt(padded)
			.put(metadata)
			.position(8 + padded)
			.put(body)
			.array();
	}

	/**
	 * A schema message with an endianness and a metadata version of choice.
	 */
	static byte[] schemaMessage(Schema schema, short endianness, short version) {
		FlatBufferBuilder builder = new FlatBufferBuilder();
		int[] fields = schema.getFields().stream().mapToInt((field) -> field.getField(builder)).toArray();
		int vector = org.apache.arrow.flatbuf.Schema.createFieldsVector(builder, fields);
		org.apache.arrow.flatbuf.Schema.startSchema(builder);
		org.apache.arrow.flatbuf.Schema.addEndianness(builder, endianness);
		org.apache.arrow.flatbuf.Schema.addFields(builder, vector);
		return message(builder, org.apache.arrow.flatbuf.Schema.endSchema(builder), MessageHeader.Schema, version, 0,
				new byte[0]);
	}

	/**
	 * A message around a finished header table.
	 */
	static byte[] message(FlatBufferBuilder builder, int header, byte type, short version, long bodyLength,
			byte[] body) {
		Message.startMessage(builder);
		Message.addHeaderType(builder, type);
		Message.addHeader(builder, header);
		Message.addVersion(builder, version);
		Message.addBodyLength(builder, bodyLength);
		builder.finish(Message.endMessage(builder));
		return message(builder.sizedByteArray(), body);
	}

	/**
	 * A record batch message of one fixed-width column without a validity buffer, whose
	 * table says what it likes.
	 */
	static byte[] batchMessage(long rows, long bufferOffset, long bufferLength, long bodyLength, byte[] body) {
		FlatBufferBuilder builder = new FlatBufferBuilder();
		org.apache.arrow.flatbuf.RecordBatch.startNodesVector(builder, 1);
		org.apache.arrow.flatbuf.FieldNode.createFieldNode(builder, rows, 0);
		int nodes = builder.endVector();
		org.apache.arrow.flatbuf.RecordBatch.startBuffersVector(builder, 2);
		org.apache.arrow.flatbuf.Buffer.createBuffer(builder, bufferOffset, bufferLength);
		org.apache.arrow.flatbuf.Buffer.createBuffer(builder, 0, 0);
		int buffers = builder.endVector();
		int table = org.apache.arrow.flatbuf.RecordBatch.createRecordBatch(builder, rows, nodes, buffers, 0, 0);
		return message(builder, table, MessageHeader.RecordBatch, MetadataVersion.V5, bodyLength, body);
	}

	/**
	 * The messages of a stream, without its end marker.
	 */
	static List<byte[]> messages(byte[] stream) {
		List<byte[]> messages = new ArrayList<>();
		ByteBuffer buffer = ByteBuffer.wrap(stream).order(ByteOrder.LITTLE_ENDIAN);
		int position = 0;
		while (position < stream.length && buffer.getInt(position + 4) != 0) {
			int metadata = buffer.getInt(position + 4);
			ByteBuffer table = buffer.slice(position + 8, metadata).order(ByteOrder.LITTLE_ENDIAN);
			int length = 8 + metadata + (int) Message.getRootAsMessage(table).bodyLength();
			messages.add(java.util.Arrays.copyOfRange(stream, position, position + length));
			position += length;
		}
		return messages;
	}

	static byte headerType(byte[] message) {
		ByteBuffer buffer = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
		return Message.getRootAsMessage(buffer.slice(8, buffer.getInt(4)).order(ByteOrder.LITTLE_ENDIAN)).headerType();
	}

	private interface BodyWriter {

		void write(ArrowRecordBatch body) throws IOException;

	}

	private interface Writing {

		void run() throws IOException;

	}

}
