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

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Held by everything that makes a spill usable: the spill, its receivers and readers.
 * When none of them is reachable any more, nobody can read or close the spill, so it is
 * closed.
 */
final class SpillLease {

	private static final Logger logger = LoggerFactory.getLogger(SpillLease.class);

	private final SpillExecutor executor;

	private final boolean traces;

	private final LossWatch watch;

	/**
	 * Creates a lease.
	 * @param trace where the spill was created, or {@code null} to remember nothing of
	 * the kind
	 */
	SpillLease(SpillCore core, SpillExecutor executor, @Nullable CreationTrace trace) {
		this.executor = executor;
		this.traces = trace != null;
		this.watch = new LossWatch(this, executor, () -> close(core, trace));
	}

	/**
	 * Watches over a reader: one that is forgotten must not look for ever as if somebody
	 * read.
	 */
	ReaderLease reader(SpillCore core, SpillReader reader) {
		return new ReaderLease(reader, core, this.executor, this.traces ? new CreationTrace() : null);
	}

	/**
	 * The spill was closed properly.
	 */
	void end() {
		this.watch.end();
	}

	private static void close(SpillCore core, @Nullable CreationTrace trace) {
		if (!core.isEnded()) {
			logger.warn("Spill '{}' was never closed and nobody can read it any more; it is given back. "
					+ "Close every spill that you create", core.name(), trace);
			core.close("it was forgotten without being closed", true);
		}
	}

}
