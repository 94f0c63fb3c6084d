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

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.util.MemoryUtil;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;

/**
 * Touches a batch: sums every 8-byte word of every buffer. Without bounds checks, so that
 * the speed is that of the memory.
 */
final class Words {

	private Words() {
	}

	static long sum(RecordBatch batch, BufferAllocator allocator) {
		try (OpenBatch open = batch.open(allocator)) {
			return sum(open.root());
		}
	}

	static long sum(VectorSchemaRoot root) {
		long sum = 0;
		for (FieldVector vector : root.getFieldVectors()) {
			for (ArrowBuf buffer : vector.getBuffers(false)) {
				sum += sum(buffer.memoryAddress() + buffer.readerIndex(),
						Math.toIntExact(buffer.readableBytes() / Long.BYTES));
			}
		}
		return sum;
	}

	/**
	 * Four sums at a time: one would wait for its own additions. Counted by an
	 * {@code int}: what the JIT compiler makes of a loop that is counted by a
	 * {@code long} takes twice as long in every third process.
	 */
	private static long sum(long address, int words) {
		long first = 0;
		long second = 0;
		long third = 0;
		long fourth = 0;
		int fours = words / 4;
		for (int i = 0; i < fours; i++) {
			long at = address + 4L * Long.BYTES * i;
			first += MemoryUtil.getLong(at);
			second += MemoryUtil.getLong(at + Long.BYTES);
			third += MemoryUtil.getLong(at + 2 * Long.BYTES);
			fourth += MemoryUtil.getLong(at + 3 * Long.BYTES);
		}
		for (int i = 4 * fours; i < words; i++) {
			first += MemoryUtil.getLong(address + (long) Long.BYTES * i);
		}
		return first + second + third + fourth;
	}

}
