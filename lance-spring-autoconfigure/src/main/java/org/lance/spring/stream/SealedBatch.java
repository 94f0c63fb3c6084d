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

package org.lance.spring.stream;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

import org.apache.arrow.vector.types.pojo.Schema;

/**
 * What all handles of a batch share: the memory, counted by handle.
 */
final class SealedBatch {

	/**
	 * What a batch costs on the heap, about: its objects, and those of each buffer.
	 */
	private static final int HEAP_PER_BATCH = 512;

	private static final int HEAP_PER_BUFFER = 96;

	final Schema schema;

	final SealedBuffers buffers;

	final List<DictionaryVersion> dictionaries;

	final long memorySize;

	/**
	 * Handles and calls in progress; the memory itself is also held by open batches.
	 */
	private final References handles = new References("A record batch");

	SealedBatch(Schema schema, SealedBuffers buffers, List<DictionaryVersion> dictionaries) {
		this.schema = schema;
		this.buffers = buffers;
		this.dictionaries = dictionaries;
		this.memorySize = memorySize();
	}

	private long memorySize() {
		if (this.dictionaries.isEmpty()) {
			// Most batches, each time that one is read: no need to look at allocations.
			return heap() + this.buffers.memory().getSize();
		}
		long deltas = this.dictionaries.stream().mapToLong(DictionaryVersion::deltaBytes).sum();
		return deltas + chunks().values().stream().mapToLong(Long::longValue).sum();
	}

	private long heap() {
		return HEAP_PER_BATCH + (long) HEAP_PER_BUFFER * this.buffers.body().getBuffers().size();
	}

	/**
	 * All allocations but those of deltas; what the batch costs on the heap counts as one
	 * of them.
	 */
	private Map<Object, Long> chunks() {
		Map<Object, Long> chunks = new IdentityHashMap<>();
		chunks.put(this, heap());
		this.buffers.memory().forEachChunk(chunks::put);
		this.dictionaries.forEach((version) -> version.forEachChunkOfFirst(chunks::put));
		return chunks;
	}

	void forEachAllocation(Predicate<Object> known, BiConsumer<Object, Long> visitor) {
		chunks().forEach((allocation, bytes) -> {
			if (!known.test(allocation)) {
				visitor.accept(allocation, bytes);
			}
		});
		this.dictionaries.forEach((version) -> version.forEachDelta(known, visitor));
	}

	boolean tryRetain() {
		return this.handles.tryRetain(1);
	}

	void release() {
		if (this.handles.release(1)) {
			try {
				this.buffers.memory().release();
			}
			finally {
				this.dictionaries.forEach(DictionaryVersion::close);
			}
		}
	}

}
