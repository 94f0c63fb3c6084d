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

package org.lance.spring.testing;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.UnionMode;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Writes random columns of any Arrow type straight into the buffers of the format,
 * without the vector classes, which differ in what they can do.
 */
public final class GeneratedBody implements AutoCloseable {

	/**
	 * How many values the generated indexes of a dictionary column may refer to.
	 */
	public static final int DICTIONARY_SIZE = 5;

	private final BufferAllocator allocator;

	private final Random random;

	private final double nulls;

	private final List<ArrowFieldNode> nodes = new ArrayList<>();

	private final List<ArrowBuf> buffers = new ArrayList<>();

	private final List<Long> variadicCounts = new ArrayList<>();

	private final List<Field> fields;

	private final int rows;

	private GeneratedBody(List<Field> fields, int rows, BufferAllocator allocator, long seed, double nulls) {
		this.fields = fields;
		this.rows = rows;
		this.allocator = allocator;
		this.random = new Random(seed);
		this.nulls = nulls;
	}

	/**
	 * Generates columns.
	 * @param nulls which part of the values is null, from 0 to 1
	 */
	public static GeneratedBody of(List<Field> fields, int rows, BufferAllocator allocator, long seed, double nulls) {
		GeneratedBody body = new GeneratedBody(fields, rows, allocator, seed, nulls);
		fields.forEach((field) -> body.column(field, rows));
		return body;
	}

	/** The nodes, to be changed by a test at will. */
	public List<ArrowFieldNode> nodes() {
		return this.nodes;
	}

	/** The buffers, to be changed by a test at will. */
	public List<ArrowBuf> buffers() {
		return this.buffers;
	}

	/** The counts of the data buffers of views, to be changed by a test at will. */
	public List<Long> variadicCounts() {
		return this.variadicCounts;
	}

	/** The body as it is now; borrows the buffers. */
	public ArrowRecordBatch body() {
		return body(this.rows);
	}

	/** The body with another number of rows; borrows the buffers. */
	public ArrowRecordBatch body(int rows) {
		return new ArrowRecordBatch(rows, this.nodes, this.buffers, NoCompressionCodec.DEFAULT_BODY_COMPRESSION,
				this.variadicCounts, true, false);
	}

	/** The columns as vectors; the caller closes them. */
	public VectorSchemaRoot root() {
		VectorSchemaRoot root = VectorSchemaRoot.create(new Schema(this.fields), this.allocator);
		new VectorLoader(root).load(body());
		return root;
	}

	@Override
	public void close() {
		this.buffers.forEach(ArrowBuf::close);
	}

	private void column(Field field, int length) {
		ArrowType type = field.getType();
		while (type instanceof ArrowType.ExtensionType extension) {
			type = extension.storageType();
		}
		List<Field> children = field.getChildren();
		switch (type.getTypeID()) {
			case Null -> this.nodes.add(new ArrowFieldNode(length, length));
			case Struct -> {
				validity(field, length);
				children.forEach((child) -> column(child, length));
			}
			case List, Map -> column(children.get(0), list(field, length, 4));
			case LargeList -> column(children.get(0), list(field, length, 8));
			case ListView -> listView(field, length, 4);
			case LargeListView -> listView(field, length, 8);
			case FixedSizeList -> {
				validity(field, length);
				column(children.get(0), length * ((ArrowType.FixedSizeList) type).getListSize());
			}
			case Union -> union((ArrowType.Union) type, children, length);
			case RunEndEncoded -> runs(children, length);
			case Utf8, Binary -> bytes(list(field, length, 4));
			case LargeUtf8, LargeBinary -> bytes(list(field, length, 8));
			case Utf8View, BinaryView -> views(field, length);
			default -> fixed(field, type, length);
		}
	}

	private void validity(Field field, int length) {
		ArrowBuf bits = buffer((length + 7) / 8);
		int nulls = 0;
		for (int i = 0; i < length; i++) {
			boolean isNull = field.isNullable() && this.random.nextDouble() < this.nulls;
			nulls += isNull ? 1 : 0;
			if (!isNull) {
				bits.setByte(i / 8, bits.getByte(i / 8) | (1 << (i % 8)));
			}
		}
		this.nodes.add(new ArrowFieldNode(length, nulls));
	}

	private int list(Field field, int length, int width) {
		validity(field, length);
		ArrowBuf offsets = buffer((length + 1) * width);
		int end = 0;
		for (int i = 0; i <= length; i++) {
			set(offsets, width, i, end);
			end += (i < length) ? this.random.nextInt(5) : 0;
		}
		return end;
	}

	private void bytes(int length) {
		ArrowBuf data = buffer(length);
		for (int i = 0; i < length; i++) {
			data.setByte(i, 'a' + this.random.nextInt(26));
		}
	}

	private void listView(Field field, int length, int width) {
		validity(field, length);
		ArrowBuf offsets = buffer(length * width);
		ArrowBuf sizes = buffer(length * width);
		int childLength = length + 3;
		for (int i = 0; i < length; i++) {
			int size = this.random.nextInt(4);
			set(offsets, width, i, this.random.nextInt(childLength - size + 1));
			set(sizes, width, i, size);
		}
		column(field.getChildren().get(0), childLength);
	}

	private void union(ArrowType.Union type, List<Field> children, int length) {
		this.nodes.add(new ArrowFieldNode(length, 0));
		ArrowBuf ids = buffer(length);
		ArrowBuf offsets = (type.getMode() == UnionMode.Dense) ? buffer(4 * length) : null;
		int[] lengths = new int[children.size()];
		for (int i = 0; i < length; i++) {
			int child = this.random.nextInt(children.size());
			ids.setByte(i, type.getTypeIds()[child]);
			if (offsets != null) {
				offsets.setInt(4L * i, lengths[child]++);
			}
		}
		for (int i = 0; i < lengths.length; i++) {
			column(children.get(i), (offsets != null) ? lengths[i] : length);
		}
	}

	private void runs(List<Field> children, int length) {
		this.nodes.add(new ArrowFieldNode(length, 0));
		int runs = (length + 2) / 3;
		this.nodes.add(new ArrowFieldNode(runs, 0));
		ArrowBuf bits = buffer((runs + 7) / 8);
		bits.setOne(0, bits.capacity());
		int width = ((ArrowType.Int) children.get(0).getType()).getBitWidth() / 8;
		ArrowBuf ends = buffer(runs * width);
		for (int i = 0; i < runs; i++) {
			set(ends, width, i, Math.min(3 * i + 3, length));
		}
		column(children.get(1), runs);
	}

	private void views(Field field, int length) {
		validity(field, length);
		ArrowBuf views = buffer(16 * length);
		ArrowBuf data = buffer(length * 20);
		for (int i = 0; i < length; i++) {
			int size = this.random.nextInt(20);
			byte[] value = "v".repeat(size).getBytes(StandardCharsets.US_ASCII);
			views.setInt(16L * i, size);
			if (size <= 12) {
				views.setBytes(16L * i + 4, value);
			}
			else {
				data.setBytes(20L * i, value);
				views.setBytes(16L * i + 4, value, 0, 4);
				views.setInt(16L * i + 8, 0);
				views.setInt(16L * i + 12, 20 * i);
			}
		}
		this.variadicCounts.add(1L);
	}

	private void fixed(Field field, ArrowType type, int length) {
		validity(field, length);
		if (type instanceof ArrowType.Bool) {
			ArrowBuf bits = buffer((length + 7) / 8);
			for (int i = 0; i < bits.capacity(); i++) {
				bits.setByte(i, this.random.nextInt(256));
			}
			return;
		}
		int width = width(type);
		ArrowBuf values = buffer(length * width);
		int bound = (field.getDictionary() != null) ? DICTIONARY_SIZE : (width > 1) ? 20000 : 100;
		for (int i = 0; i < length; i++) {
			int value = this.random.nextInt(bound);
			// The lowest bytes alone, so that every type takes it for a small number.
			for (int b = 0; b < Math.min(width, 2); b++) {
				values.setByte((long) i * width + b, value >>> (8 * b));
			}
		}
	}

	private static int width(ArrowType type) {
		return switch (type.getTypeID()) {
			case Int -> ((ArrowType.Int) type).getBitWidth() / 8;
			case FloatingPoint -> switch (((ArrowType.FloatingPoint) type).getPrecision()) {
				case HALF -> 2;
				case SINGLE -> 4;
				case DOUBLE -> 8;
			};
			case Decimal -> ((ArrowType.Decimal) type).getBitWidth() / 8;
			case FixedSizeBinary -> ((ArrowType.FixedSizeBinary) type).getByteWidth();
			case Date -> type.equals(ArrowTypes.DATE_DAY) ? 4 : 8;
			case Time -> ((ArrowType.Time) type).getBitWidth() / 8;
			case Interval -> Map.of(0, 4, 1, 8, 2, 16).get((int) ((ArrowType.Interval) type).getUnit().getFlatbufID());
			default -> 8;
		};
	}

	private static void set(ArrowBuf buffer, int width, int index, long value) {
		switch (width) {
			case 2 -> buffer.setShort(2L * index, (int) value);
			case 4 -> buffer.setInt(4L * index, (int) value);
			default -> buffer.setLong(8L * index, value);
		}
	}

	private ArrowBuf buffer(int bytes) {
		// One chunk for each, so that reading beyond a buffer is seen by the debug
		// allocator.
		ArrowBuf chunk = this.allocator.buffer(bytes);
		ArrowBuf buffer = (bytes > 0) ? chunk.slice(0, bytes) : chunk;
		if (bytes > 0) {
			buffer.setZero(0, bytes);
		}
		this.buffers.add(buffer);
		return buffer;
	}

}
