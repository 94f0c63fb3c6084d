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

import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * The bytes that all spills of a manager may hold in memory together. Reserved before a
 * batch is kept, given back exactly. An allocation that several spills hold counts once.
 * <p>
 * May be used from any thread.
 */
final class MemoryBudget {

	private final long limit;

	private final Map<Object, Shared> allocations = new IdentityHashMap<>();

	private volatile long used;

	MemoryBudget(long limit) {
		this.limit = limit;
	}

	/**
	 * Reserves what a spill wants to hold in addition.
	 * @param allocations the allocations that this spill does not hold yet, each with its
	 * size
	 * @param heap what else it costs
	 * @return whether it fits; if not, nothing is reserved
	 */
	synchronized boolean tryReserve(Map<Object, Long> allocations, long heap) {
		long added = heap;
		for (Map.Entry<Object, Long> allocation : allocations.entrySet()) {
			if (!this.allocations.containsKey(allocation.getKey())) {
				added += allocation.getValue();
			}
		}
		if (added > this.limit - this.used) {
			return false;
		}
		allocations
			.forEach((key, size) -> this.allocations.computeIfAbsent(key, (missing) -> new Shared(size)).spills++);
		this.used += added;
		return true;
	}

	/**
	 * Gives back what a spill held.
	 * @param allocations its allocations
	 * @param heap what else it cost
	 */
	synchronized void giveBack(Collection<Object> allocations, long heap) {
		long freed = heap;
		for (Object key : allocations) {
			Shared shared = this.allocations.get(key);
			if (shared != null && --shared.spills == 0) {
				this.allocations.remove(key);
				freed += shared.size;
			}
		}
		this.used -= freed;
	}

	long used() {
		return this.used;
	}

	long limit() {
		return this.limit;
	}

	/**
	 * An allocation that spills hold.
	 */
	private static final class Shared {

		private final long size;

		private int spills;

		Shared(long size) {
			this.size = size;
		}

	}

}
