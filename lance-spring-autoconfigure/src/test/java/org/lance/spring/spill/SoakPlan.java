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

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.DictionaryVersion;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;

/**
 * All batches of a spill: which rows they have follows from a seed, so that a reader can
 * tell each of them from any other.
 *
 * @param seed the seed
 * @param encoded whether there is a column with a dictionary
 * @param batches the batches
 */
record SoakPlan(long seed, boolean encoded, List<Batch> batches) {

	private static final long ID = 3;

	private static final DictionaryEncoding ENCODING = new DictionaryEncoding(ID, false, null);

	private static final Field NUMBER = Field.nullable("n", new ArrowType.Int(64, true));

	private static final Field VALUES = Field.nullable("values", new ArrowType.Utf8());

	private static final Schema PLAIN = new Schema(List.of(NUMBER));

	private static final Schema ENCODED = new Schema(
			List.of(NUMBER, new Field("d", new FieldType(true, ENCODING.getIndexType(), ENCODING), null)));

	/**
	 * Makes a plan.
	 */
	static SoakPlan of(long seed) {
		Random random = new Random(seed);
		boolean encoded = random.nextBoolean();
		int count = (random.nextInt(10) == 0) ? 100 + random.nextInt(100) : random.nextInt(25);
		List<Batch> batches = new ArrayList<>(count);
		int generation = 0;
		int values = 1 + random.nextInt(5);
		for (int i = 0; i < count; i++) {
			int change = random.nextInt(8);
			if (change == 0) {
				generation++;
				values = 1 + random.nextInt(5);
			}
			else if (change == 1) {
				values += 1 + random.nextInt(3);
			}
			batches.add(new Batch(rows(random), random.nextInt(10) == 0, generation, values));
		}
		return new SoakPlan(seed, encoded, List.copyOf(batches));
	}

	private static int rows(Random random) {
		return switch (random.nextInt(10)) {
			case 0, 1, 2, 3 -> random.nextInt(10);
			case 4, 5, 6 -> random.nextInt(500);
			case 7, 8 -> 1_500 + random.nextInt(2_500);
			default -> random.nextInt(12_000);
		};
	}

	Schema schema() {
		return this.encoded ? ENCODED : PLAIN;
	}

	Map<Long, Field> dictionaryFields() {
		return this.encoded ? Map.of(ID, VALUES) : Map.of();
	}

	Writer writer(BufferAllocator allocator) {
		return new Writer(allocator);
	}

	private long number(int batch, int row) {
		long mixed = (this.seed + 31L * batch + row) * 0x9E3779B97F4A7C15L;
		return mixed ^ (mixed >>> 29);
	}

	private String value(int generation, int index) {
		return Long.toString(this.seed, 36) + "." + generation + "." + index;
	}

	/**
	 * Fails if a batch is another one.
	 * @param index which it must be
	 * @param batch the batch, borrowed
	 */
	void check(int index, RecordBatch batch, BufferAllocator allocator) {
		if (index >= this.batches.size()) {
			throw new AssertionError("There are more batches than %d".formatted(this.batches.size()));
		}
		Batch expected = this.batches.get(index);
		try (OpenBatch open = batch.open(allocator)) {
			if (open.root().getRowCount() != expected.rows) {
				throw new AssertionError(
						"Batch %d has %d rows and not %d".formatted(index, open.root().getRowCount(), expected.rows));
			}
			BigIntVector numbers = (BigIntVector) open.root().getVector(0);
			for (int row = 0; row < expected.rows; row++) {
				if (numbers.get(row) != number(index, row)) {
					throw new AssertionError("Row %d of batch %d is another one".formatted(row, index));
				}
			}
			if (this.encoded) {
				checkDictionary(index, expected, open);
			}
		}
	}

	private void checkDictionary(int index, Batch expected, OpenBatch open) {
		IntVector indexes = (IntVector) open.root().getVector(1);
		for (int row = 0; row < expected.rows; row++) {
			if (indexes.get(row) != row % expected.values) {
				throw new AssertionError("The index of row %d of batch %d is another one".formatted(row, index));
			}
		}
		VarCharVector values = (VarCharVector) open.dictionaries().lookup(ID).getVector();
		if (values.getValueCount() != expected.values) {
			throw new AssertionError("The dictionary of batch %d has %d values and not %d".formatted(index,
					values.getValueCount(), expected.values));
		}
		for (int i = 0; i < expected.values; i++) {
			String value = new String(values.get(i), StandardCharsets.UTF_8);
			if (!value.equals(value(expected.generation, i))) {
				throw new AssertionError("Value %d of the dictionary of batch %d is %s".formatted(i, index, value));
			}
		}
	}

	/**
	 * A batch.
	 *
	 * @param rows its rows
	 * @param wasteful whether it keeps far more memory alive than it needs
	 * @param generation which dictionary it has
	 * @param values how many values that one has by now
	 */
	record Batch(int rows, boolean wasteful, int generation, int values) {

	}

	/**
	 * Makes the batches one after the other. Not thread-safe.
	 */
	final class Writer implements AutoCloseable {

		private final BufferAllocator allocator;

		private DictionaryVersion version;

		private int generation = -1;

		private Writer(BufferAllocator allocator) {
			this.allocator = allocator;
		}

		/**
		 * Makes a batch, owned by the caller.
		 */
		RecordBatch batch(int index) {
			Batch batch = SoakPlan.this.batches.get(index);
			if (SoakPlan.this.encoded) {
				advance(batch);
			}
			try (VectorSchemaRoot root = VectorSchemaRoot.create(schema(), this.allocator)) {
				int reserved = Math.max(1, batch.wasteful ? 10 * batch.rows : batch.rows);
				BigIntVector numbers = (BigIntVector) root.getVector(0);
				numbers.allocateNew(reserved);
				for (int row = 0; row < batch.rows; row++) {
					numbers.set(row, number(index, row));
				}
				if (SoakPlan.this.encoded) {
					IntVector indexes = (IntVector) root.getVector(1);
					indexes.allocateNew(reserved);
					for (int row = 0; row < batch.rows; row++) {
						indexes.set(row, row % batch.values);
					}
				}
				root.setRowCount(batch.rows);
				try (ArrowRecordBatch body = new VectorUnloader(root).getRecordBatch()) {
					return RecordBatch.seal(schema(), body, (this.version != null) ? List.of(this.version) : List.of(),
							this.allocator);
				}
			}
		}

		private void advance(Batch batch) {
			DictionaryVersion before = this.version;
			boolean delta = before != null && batch.generation == this.generation;
			int from = delta ? before.valueCount() : 0;
			if (delta && from == batch.values) {
				return;
			}
			try (VarCharVector vector = new VarCharVector("values", this.allocator)) {
				vector.allocateNew();
				for (int i = from; i < batch.values; i++) {
					vector.setSafe(i - from, value(batch.generation, i).getBytes(StandardCharsets.UTF_8));
				}
				vector.setValueCount(batch.values - from);
				try (ArrowRecordBatch body = new VectorUnloader(VectorSchemaRoot.of(vector)).getRecordBatch()) {
					this.version = DictionaryVersion.seal(ID, VALUES, body, delta ? before : null, this.allocator);
				}
			}
			this.generation = batch.generation;
			if (before != null) {
				before.close();
			}
		}

		@Override
		public void close() {
			if (this.version != null) {
				this.version.close();
			}
			this.version = null;
		}

	}

}
