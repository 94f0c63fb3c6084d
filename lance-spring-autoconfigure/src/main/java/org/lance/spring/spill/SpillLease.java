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

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Held by everything that makes a spill usable: the spill, its receivers and readers.
 * When none of them is reachable any more, nobody can read or close the spill, so it is
 * closed.
 */
final class SpillLease {

	static final Cleaner CLEANER = Cleaner.create();

	private final Forgotten forgotten;

	private final Cleaner.Cleanable cleanable;

	private final SpillExecutor executor;

	private final boolean traces;

	/**
	 * Creates a lease.
	 * @param trace where the spill was created, or {@code null} to remember nothing of
	 * the kind
	 */
	SpillLease(SpillCore core, SpillExecutor executor, @Nullable CreationTrace trace) {
		this.executor = executor;
		this.traces = trace != null;
		this.forgotten = new Forgotten(core, executor, trace);
		this.cleanable = CLEANER.register(this, this.forgotten);
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
		this.forgotten.ended.set(true);
		this.cleanable.clean();
	}

	/**
	 * Closes a forgotten spill; must not refer to the lease.
	 */
	private static final class Forgotten implements Runnable {

		private static final Logger logger = LoggerFactory.getLogger(SpillLease.class);

		private final AtomicBoolean ended = new AtomicBoolean();

		private final SpillCore core;

		private final SpillExecutor executor;

		private final @Nullable CreationTrace trace;

		Forgotten(SpillCore core, SpillExecutor executor, @Nullable CreationTrace trace) {
			this.core = core;
			this.executor = executor;
			this.trace = trace;
		}

		@Override
		public void run() {
			if (this.ended.compareAndSet(false, true)) {
				// Not on the cleaner's thread: continuations of users may follow.
				this.executor.cleanUp(this::close);
			}
		}

		private void close() {
			if (!this.core.isEnded()) {
				logger.warn("Spill '{}' was never closed and nobody can read it any more; it is given back. "
						+ "Close every spill that you create", this.core.name(), this.trace);
				this.core.close("it was forgotten without being closed", true);
			}
		}

	}

}
