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

import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.RecordBatch;

/**
 * The batches of a data set in memory, which stand for all of its batches in turn.
 */
final class Batches implements AutoCloseable {

	private final DataSet data;

	private final BufferAllocator allocator;

	private final List<RecordBatch> distinct = new ArrayList<>();

	Batches(DataSet data, BufferAllocator allocator) {
		this.data = data;
		this.allocator = allocator;
		for (int i = 0; i < data.distinctBatches(); i++) {
			try (VectorSchemaRoot root = data.create(i, allocator)) {
				this.distinct.add(RecordBatch.copyOf(root, null, allocator));
			}
		}
	}

	/**
	 * An allocator that rounds as the starter's does.
	 */
	static RootAllocator allocator(long limit) {
		return new RootAllocator(AllocationListener.NOOP, limit, (size) -> size);
	}

	Schema schema() {
		return this.data.schema();
	}

	BufferAllocator allocator() {
		return this.allocator;
	}

	List<RecordBatch> distinct() {
		return this.distinct;
	}

	/**
	 * How many there are.
	 */
	int size() {
		return this.data.batches();
	}

	/**
	 * A batch, borrowed.
	 */
	RecordBatch get(int index) {
		return this.distinct.get(index % this.distinct.size());
	}

	/**
	 * The sum of all words of all batches: what a reader must come to.
	 */
	long sum() {
		long sum = 0;
		for (int i = 0; i < size(); i++) {
			sum += Words.sum(get(i), this.allocator);
		}
		return sum;
	}

	@Override
	public void close() {
		this.distinct.forEach(RecordBatch::close);
	}

}
