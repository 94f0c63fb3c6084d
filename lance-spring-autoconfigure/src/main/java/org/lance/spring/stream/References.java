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

import java.util.concurrent.atomic.AtomicInteger;

/**
 * A reference count that starts with one reference and never comes back from zero.
 */
final class References {

	private final AtomicInteger count = new AtomicInteger(1);

	private final String of;

	/**
	 * Creates the count.
	 * @param of what is counted, for messages
	 */
	References(String of) {
		this.of = of;
	}

	int count() {
		return this.count.get();
	}

	/**
	 * Takes references if there still is one.
	 * @return whether they were taken
	 */
	boolean tryRetain(int increment) {
		return this.count.getAndUpdate((current) -> (current > 0) ? current + increment : current) > 0;
	}

	void retain(int increment) {
		if (!tryRetain(increment)) {
			throw new IllegalStateException("%s was already released".formatted(this.of));
		}
	}

	/**
	 * Gives references back.
	 * @return whether those were the last ones
	 */
	boolean release(int decrement) {
		int before = this.count.getAndUpdate((current) -> (current >= decrement) ? current - decrement : current);
		if (before < decrement) {
			throw new IllegalStateException("%s was released more often than retained".formatted(this.of));
		}
		return before == decrement;
	}

}
