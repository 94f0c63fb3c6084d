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
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.lance.spring.stream.RecordBatch;

/**
 * The batches that one spill holds in memory, within its own limit and the shared budget.
 * An allocation behind several batches counts once. Guarded by the lock of its spill.
 */
final class SpillMemory {

	private final long limit;

	private final MemoryBudget budget;

	private final Set<Object> allocations = Collections.newSetFromMap(new IdentityHashMap<>());

	private List<RecordBatch> batches = new ArrayList<>();

	private long bytes;

	SpillMemory(long limit, MemoryBudget budget) {
		this.limit = limit;
		this.budget = budget;
	}

	/**
	 * Takes a batch over if it fits.
	 */
	boolean tryAdd(RecordBatch batch) {
		if (this.limit == 0) {
			return false;
		}
		Map<Object, Long> own = new IdentityHashMap<>();
		batch.forEachAllocation(this.allocations::contains, own::put);
		long added = own.values().stream().mapToLong(Long::longValue).sum();
		if (added > this.limit - this.bytes || !this.budget.tryReserve(added)) {
			return false;
		}
		this.allocations.addAll(own.keySet());
		this.batches.add(batch);
		this.bytes += added;
		return true;
	}

	/**
	 * Returns another handle on a batch.
	 */
	RecordBatch share(int index) {
		return this.batches.get(index).share();
	}

	/**
	 * Returns the batches, borrowed.
	 */
	List<RecordBatch> batches() {
		return this.batches;
	}

	long bytes() {
		return this.bytes;
	}

	/**
	 * Lets go of all batches.
	 * @return gives memory and budget back; to be run outside the lock
	 */
	Runnable clear() {
		List<RecordBatch> dropped = this.batches;
		long reserved = this.bytes;
		this.batches = new ArrayList<>();
		this.allocations.clear();
		this.bytes = 0;
		return () -> {
			dropped.forEach(RecordBatch::close);
			this.budget.giveBack(reserved);
		};
	}

}
