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

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * What a soak did so far, and what went wrong first. Thread-safe.
 */
final class SoakReport {

	private final Map<String, LongAdder> counts = new ConcurrentSkipListMap<>();

	private final LongAdder progress = new LongAdder();

	private final AtomicReference<Throwable> failure = new AtomicReference<>();

	void count(String what) {
		count(what, 1);
	}

	void count(String what, long times) {
		note(what, times);
		this.progress.increment();
	}

	/**
	 * Counts what also goes on while all spills hang.
	 */
	void note(String what, long times) {
		this.counts.computeIfAbsent(what, (name) -> new LongAdder()).add(times);
	}

	void count(Throwable failed) {
		count("failed with " + failed.getClass().getSimpleName());
	}

	/**
	 * Changes as long as anything happens.
	 */
	long progress() {
		return this.progress.sum();
	}

	/**
	 * Says that something is wrong, unless something else was before.
	 */
	void fail(Throwable ex) {
		this.failure.compareAndSet(null, ex);
	}

	Throwable failure() {
		return this.failure.get();
	}

	@Override
	public String toString() {
		StringBuilder text = new StringBuilder();
		this.counts.forEach((what, times) -> text.append("%,14d  %s%n".formatted(times.sum(), what)));
		return text.toString();
	}

}
