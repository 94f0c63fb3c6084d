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
 * Bytes that several files may take together, on a disk or in mappings that stay. They
 * are reserved first, and given back exactly.
 * <p>
 * May be used from any thread.
 */
final class ByteBudget {

	static final long UNLIMITED = Long.MAX_VALUE;

	/**
	 * Gives nothing.
	 */
	static final ByteBudget NONE = new ByteBudget(0);

	private final AtomicLong used = new AtomicLong();

	private volatile long limit;

	ByteBudget(long limit) {
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

	/**
	 * Changes the limit. What is reserved stays, also beyond the new limit.
	 */
	void limit(long bytes) {
		this.limit = bytes;
	}

}
