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
import java.util.List;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;

/**
 * Batches of one column of numbers.
 */
final class Batches {

	static final Schema SCHEMA = new Schema(List.of(Field.nullable("n", new ArrowType.Int(64, true))));

	private final BufferAllocator allocator;

	Batches(BufferAllocator allocator) {
		this.allocator = allocator;
	}

	RecordBatch of(long... values) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(SCHEMA, this.allocator)) {
			BigIntVector vector = (BigIntVector) root.getVector(0);
			vector.allocateNew(values.length);
			for (int i = 0; i < values.length; i++) {
				vector.set(i, values[i]);
			}
			root.setRowCount(values.length);
			return RecordBatch.copyOf(root, null, this.allocator);
		}
	}

	/**
	 * A batch of that many rows, all of the same value.
	 */
	RecordBatch rows(int rows, long value) {
		long[] values = new long[rows];
		java.util.Arrays.fill(values, value);
		return of(values);
	}

	/**
	 * Takes the values out of a batch and closes it.
	 */
	List<Long> take(RecordBatch batch) {
		List<Long> values = new ArrayList<>();
		try (batch; OpenBatch open = batch.open(this.allocator)) {
			BigIntVector vector = (BigIntVector) open.root().getVector(0);
			for (int i = 0; i < open.root().getRowCount(); i++) {
				values.add(vector.get(i));
			}
		}
		return values;
	}

	List<Long> take(List<RecordBatch> batches) {
		List<Long> values = new ArrayList<>();
		batches.forEach((batch) -> values.addAll(take(batch)));
		return values;
	}

}
