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
 * Counts one reader of a spill, until it is released or nobody can reach it any more.
 */
final class ReaderLease {

	private static final Logger logger = LoggerFactory.getLogger(ReaderLease.class);

	private final Lost lost;

	private final Cleaner.Cleanable cleanable;

	ReaderLease(SpillReader reader, SpillCore core, SpillExecutor executor, @Nullable CreationTrace trace) {
		this.lost = new Lost(core, executor, trace);
		core.readerOpened();
		this.cleanable = SpillLease.CLEANER.register(reader, this.lost);
	}

	/**
	 * The reader ended or was closed.
	 */
	void end() {
		if (this.lost.ended.compareAndSet(false, true)) {
			this.lost.core.readerClosed();
			this.cleanable.clean();
		}
	}

	/**
	 * Gives a lost reader back; must not refer to it.
	 */
	private static final class Lost implements Runnable {

		private final AtomicBoolean ended = new AtomicBoolean();

		private final SpillCore core;

		private final SpillExecutor executor;

		private final @Nullable CreationTrace trace;

		Lost(SpillCore core, SpillExecutor executor, @Nullable CreationTrace trace) {
			this.core = core;
			this.executor = executor;
			this.trace = trace;
		}

		@Override
		public void run() {
			if (this.ended.compareAndSet(false, true)) {
				// Not on the cleaner's thread: a drain that waited for it may go on.
				this.executor.cleanUp(this::giveBack);
			}
		}

		private void giveBack() {
			// One that was told of the end of its spill held nothing up.
			if (!this.core.isEnded()) {
				logger.warn("A reader of spill '{}' was neither read to its end nor closed; it became unreachable. "
						+ "Close every stream that you open", this.core.name(), this.trace);
			}
			this.core.readerClosed();
		}

	}

}
