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
 * Counts one reader of a spill, until it is released or nobody can reach it any more.
 */
final class ReaderLease {

	private static final Logger logger = LoggerFactory.getLogger(ReaderLease.class);

	private final SpillCore core;

	private final LossWatch watch;

	ReaderLease(SpillReader reader, SpillCore core, SpillExecutor executor, @Nullable CreationTrace trace) {
		this.core = core;
		core.readerOpened();
		this.watch = new LossWatch(reader, executor, () -> giveBack(core, trace));
	}

	/**
	 * The reader ended or was closed.
	 */
	void end() {
		if (this.watch.end()) {
			this.core.readerClosed();
		}
	}

	private static void giveBack(SpillCore core, @Nullable CreationTrace trace) {
		// One that was told of the end of its spill held nothing up.
		if (!core.isEnded()) {
			logger.warn("A reader of spill '{}' was neither read to its end nor closed; it became unreachable. "
					+ "Close every stream that you open", core.name(), trace);
		}
		core.readerClosed();
	}

}
