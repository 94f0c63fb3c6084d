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

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that all spills of a manager may hold in memory together. Reserved before a
 * batch is kept, given back exactly.
 */
final class MemoryBudget {

	private final long limit;

	private final AtomicLong used = new AtomicLong();

	MemoryBudget(long limit) {
		this.limit = limit;
	}

	boolean tryReserve(long bytes) {
		long current = this.used.get();
		while (bytes <= this.limit - current) {
			if (this.used.compareAndSet(current, current + bytes)) {
				return true;
			}
			current = this.used.get();
		}
		return false;
	}

	void giveBack(long bytes) {
		this.used.addAndGet(-bytes);
	}

	long used() {
		return this.used.get();
	}

	long limit() {
		return this.limit;
	}

}
