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

package org.lance.spring.sample.testing;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiConsumer;

import com.google.flatbuffers.FlatBufferBuilder;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.ipc.WriteChannel;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Makes Arrow IPC data for uploads, good and bad, and reads answers.
 */
public final class ArrowBytes {

	private static final Schema PEOPLE = new Schema(
			List.of(Field.nullable("id", new ArrowType.Int(64, true)), Field.nullable("name", new ArrowType.Utf8())));

	private ArrowBytes() {
	}

	/**
	 * A stream of people: {@code id} counts from {@code first}, {@code name} is "person"
	 * and the id.
	 */
	public static byte[] people(int first, int batches, int rowsPerBatch) {
		return people(first, batches, rowsPerBatch, false);
	}

	/**
	 * The same in the file format.
	 */
	public static byte[] peopleFile(int first, int batches, int rowsPerBatch) {
		return people(first, batches, rowsPerBatch, true);
	}

	/**
	 * A stream whose batches are all the same, made while it is read.
	 */
	public static InputStream repeated(int batches, int rowsPerBatch) {
		int end = 8;
		byte[] one = people(0, 1, rowsPerBatch);
		int schema = people(0, 0, 0).length - end;
		List<InputStream> parts = new ArrayList<>();
		parts.add(new ByteArrayInputStream(one, 0, schema));
		for (int batch = 0; batch < batches; batch++) {
			parts.add(new ByteArrayInputStream(one, schema, one.length - schema - end));
		}
		parts.add(new ByteArrayInputStream(one, one.length - end, end));
		return new SequenceInputStream(Collections.enumeration(parts));
	}

	private static byte[] people(int first, int batches, int rowsPerBatch, boolean file) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (BufferAllocator allocator = new RootAllocator();
				VectorSchemaRoot root = VectorSchemaRoot.create(PEOPLE, allocator);
				var writer = file ? new ArrowFileWriter(root, null, Channels.newChannel(out))
						: new ArrowStreamWriter(root, null, Channels.newChannel(out))) {
			writer.start();
			for (int batch = 0; batch < batches; batch++) {
				for (int row = 0; row < rowsPerBatch; row++) {
					int id = first + batch * rowsPerBatch + row;
					((BigIntVector) root.getVector("id")).setSafe(row, id);
					((VarCharVector) root.getVector("name")).setSafe(row, ("person" + id).getBytes());
				}
				root.setRowCount(rowsPerBatch);
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
	 * A stream of one batch that says it has 3 strings, whose last offset points behind
	 * their bytes.
	 */
	public static byte[] badOffsets() {
		Schema schema = new Schema(List.of(Field.nullable("name", new ArrowType.Utf8())));
		return stream(schema, (allocator, buffers) -> {
			buffers.add(allocator.buffer(0));
			buffers.add(ints(allocator, 0, 1, 2, 1 << 30));
			buffers.add(ints(allocator, 0x20202020));
		}, 3, 3);
	}

	/**
	 * A stream of one batch of 4 lists of 2 numbers, whose child has 3 numbers.
	 */
	public static byte[] shortChild() {
		Field child = Field.nullable("item", new ArrowType.Int(32, true));
		Schema schema = new Schema(
				List.of(new Field("pair", FieldType.nullable(new ArrowType.FixedSizeList(2)), List.of(child))));
		return stream(schema, (allocator, buffers) -> {
			buffers.add(allocator.buffer(0));
			buffers.add(allocator.buffer(0));
			buffers.add(ints(allocator, 1, 2, 3));
		}, 4, 4, 3);
	}

	/**
	 * A stream of one batch of 5 numbers, whose column has 2.
	 */
	public static byte[] shortColumn() {
		Schema schema = new Schema(List.of(Field.nullable("number", new ArrowType.Int(32, true))));
		return stream(schema, (allocator, buffers) -> {
			buffers.add(allocator.buffer(0));
			buffers.add(ints(allocator, 1, 2));
		}, 5, 2);
	}

	/**
	 * A stream of one batch with one column of numbers.
	 */
	public static byte[] numbers(int... values) {
		Schema schema = new Schema(List.of(Field.nullable("number", new ArrowType.Int(32, true))));
		return stream(schema, (allocator, buffers) -> {
			buffers.add(allocator.buffer(0));
			buffers.add(ints(allocator, values));
		}, values.length, values.length);
	}

	/**
	 * A stream without batches whose schema says that its numbers are big-endian.
	 */
	public static byte[] bigEndian() {
		FlatBufferBuilder builder = new FlatBufferBuilder();
		int field = PEOPLE.getFields().get(0).getField(builder);
		int fields = org.apache.arrow.flatbuf.Schema.createFieldsVector(builder, new int[] { field });
		org.apache.arrow.flatbuf.Schema.startSchema(builder);
		org.apache.arrow.flatbuf.Schema.addEndianness(builder, Endianness.Big);
		org.apache.arrow.flatbuf.Schema.addFields(builder, fields);
		int schema = org.apache.arrow.flatbuf.Schema.endSchema(builder);
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (WriteChannel channel = new WriteChannel(Channels.newChannel(out))) {
			ByteBuffer message = MessageSerializer.serializeMessage(builder, MessageHeader.Schema, schema, 0,
					IpcOption.DEFAULT);
			MessageSerializer.writeMessageBuffer(channel, message.remaining(), message, IpcOption.DEFAULT);
			ArrowStreamWriter.writeEndOfStream(channel, IpcOption.DEFAULT);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return out.toByteArray();
	}

	private static byte[] stream(Schema schema, BiConsumer<BufferAllocator, List<ArrowBuf>> body, int rows,
			int... nodes) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		List<ArrowFieldNode> fieldNodes = new ArrayList<>();
		for (int node : nodes) {
			fieldNodes.add(new ArrowFieldNode(node, 0));
		}
		List<ArrowBuf> buffers = new ArrayList<>();
		try (BufferAllocator allocator = new RootAllocator();
				WriteChannel channel = new WriteChannel(Channels.newChannel(out))) {
			body.accept(allocator, buffers);
			MessageSerializer.serialize(channel, schema);
			try (ArrowRecordBatch batch = new ArrowRecordBatch(rows, fieldNodes, buffers)) {
				MessageSerializer.serialize(channel, batch);
			}
			buffers.forEach(ArrowBuf::close);
			ArrowStreamWriter.writeEndOfStream(channel, IpcOption.DEFAULT);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return out.toByteArray();
	}

	private static ArrowBuf ints(BufferAllocator allocator, int... values) {
		ArrowBuf buffer = allocator.buffer(values.length * 4L);
		for (int value : values) {
			buffer.writeInt(value);
		}
		return buffer;
	}

	/**
	 * Reads the ids of a stream of people.
	 */
	public static List<Long> ids(byte[] stream) {
		List<Long> ids = new ArrayList<>();
		try (BufferAllocator allocator = new RootAllocator();
				ArrowStreamReader reader = new ArrowStreamReader(new ByteArrayInputStream(stream), allocator)) {
			while (reader.loadNextBatch()) {
				BigIntVector column = (BigIntVector) reader.getVectorSchemaRoot().getVector("id");
				for (int row = 0; row < column.getValueCount(); row++) {
					ids.add(column.get(row));
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return ids;
	}

}
