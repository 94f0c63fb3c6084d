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

package org.lance.spring.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * What is written and read: about 1 GiB of batches of one shape.
 *
 * @since 0.1.0
 */
public enum DataSet {

	/**
	 * 8 columns of numbers, 65,536 rows: bodies of 4.3 MB.
	 */
	NUMBERS(8, 65_536, false, 253, 16),

	/**
	 * 64 columns of numbers, 1,000 rows: bodies of 0.5 MB in many small buffers.
	 */
	WIDE(64, 1_000, false, 2_065, 128),

	/**
	 * 8 columns of 8 to 24 random letters, 65,536 rows: bodies of 10.5 MB.
	 */
	TEXT(8, 65_536, true, 102, 6),

	/**
	 * 8 columns of numbers, 655,360 rows: bodies of 42.6 MB.
	 */
	LARGE(8, 655_360, false, 25, 2);

	private static final int MIN_LETTERS = 8;

	private static final int MAX_LETTERS = 24;

	private static final int LETTERS = 26;

	private final int columns;

	private final int rows;

	private final boolean text;

	private final int batches;

	private final int distinctBatches;

	DataSet(int columns, int rows, boolean text, int batches, int distinctBatches) {
		this.columns = columns;
		this.rows = rows;
		this.text = text;
		this.batches = batches;
		this.distinctBatches = distinctBatches;
	}

	/**
	 * Returns how many batches make up 1 GiB.
	 * @return the number
	 */
	public int batches() {
		return this.batches;
	}

	/**
	 * Returns how many different batches there are; they are written in turn. More than
	 * fit into the caches of the processor.
	 * @return the number
	 */
	public int distinctBatches() {
		return this.distinctBatches;
	}

	/**
	 * Returns the schema.
	 * @return the schema
	 */
	public Schema schema() {
		List<Field> fields = new ArrayList<>();
		for (int i = 0; i < this.columns; i++) {
			fields.add(Field.nullable("column" + i, type(i)));
		}
		return new Schema(fields);
	}

	private ArrowType type(int column) {
		if (this.text) {
			return ArrowType.Utf8.INSTANCE;
		}
		return (column % 2 == 0) ? new ArrowType.Int(Long.SIZE, true)
				: new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE);
	}

	/**
	 * Makes a batch of random values without nulls.
	 * @param seed what the values depend on
	 * @param allocator where they go
	 * @return the batch, owned by the caller
	 */
	public VectorSchemaRoot create(long seed, BufferAllocator allocator) {
		SplittableRandom random = new SplittableRandom(seed);
		VectorSchemaRoot root = VectorSchemaRoot.create(schema(), allocator);
		root.getFieldVectors().forEach((vector) -> fill(vector, random));
		root.setRowCount(this.rows);
		return root;
	}

	private void fill(FieldVector vector, SplittableRandom random) {
		if (vector instanceof BigIntVector numbers) {
			numbers.allocateNew(this.rows);
			for (int row = 0; row < this.rows; row++) {
				numbers.set(row, random.nextLong());
			}
		}
		else if (vector instanceof Float8Vector numbers) {
			numbers.allocateNew(this.rows);
			for (int row = 0; row < this.rows; row++) {
				numbers.set(row, random.nextDouble());
			}
		}
		else {
			fillText((VarCharVector) vector, random);
		}
	}

	private void fillText(VarCharVector vector, SplittableRandom random) {
		byte[] letters = new byte[MAX_LETTERS];
		vector.allocateNew((long) this.rows * MAX_LETTERS, this.rows);
		for (int row = 0; row < this.rows; row++) {
			int length = random.nextInt(MIN_LETTERS, MAX_LETTERS + 1);
			for (int i = 0; i < length; i++) {
				letters[i] = (byte) ('a' + random.nextInt(LETTERS));
			}
			vector.set(row, letters, 0, length);
		}
	}

}
