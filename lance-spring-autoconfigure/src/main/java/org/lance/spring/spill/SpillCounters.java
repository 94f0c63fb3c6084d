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

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * What the spills of a manager did so far.
 */
final class SpillCounters {

	final LongAdder files = new LongAdder();

	final LongAdder created = new LongAdder();

	final LongAdder spilled = new LongAdder();

	final LongAdder writes = new LongAdder();

	final LongAdder writeNanos = new LongAdder();

	final LongAdder reads = new LongAdder();

	final LongAdder readNanos = new LongAdder();

	final LongAdder bytesWritten = new LongAdder();

	final LongAdder bytesRead = new LongAdder();

	final LongAdder orphansReclaimed = new LongAdder();

	private final AtomicBoolean unusable = new AtomicBoolean();

	private final Map<Class<?>, LongAdder> failures;

	SpillCounters() {
		Map<Class<?>, LongAdder> byType = new java.util.HashMap<>();
		for (Class<?> type : SpillException.class.getPermittedSubclasses()) {
			byType.put(type, new LongAdder());
		}
		this.failures = Map.copyOf(byType);
	}

	void failed(SpillException failure) {
		LongAdder adder = this.failures.get(failure.getClass());
		if (adder != null) {
			adder.increment();
		}
	}

	/**
	 * No directory is usable.
	 * @return whether that is news
	 */
	boolean directoryUnusable() {
		return this.unusable.compareAndSet(false, true);
	}

	/**
	 * A directory is usable.
	 */
	void directoryUsable() {
		if (this.unusable.get()) {
			this.unusable.set(false);
		}
	}

	Map<String, Long> failures() {
		Map<String, Long> named = new TreeMap<>();
		this.failures.forEach((type, count) -> named.put(name(type), count.sum()));
		return named;
	}

	/**
	 * The name of a type in statistics: {@code disk-full} for
	 * {@link SpillDiskFullException}.
	 */
	static String name(Class<?> type) {
		String name = type.getSimpleName();
		name = name.substring("Spill".length(), name.length() - "Exception".length());
		return name.replaceAll("(?<=[a-z])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
	}

}
