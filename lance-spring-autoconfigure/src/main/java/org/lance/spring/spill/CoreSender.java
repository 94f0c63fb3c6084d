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
import java.lang.ref.Reference;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.RecordBatch;

/**
 * The sender of a spill. When it becomes unreachable before its end, nobody can finish
 * the spill any more, so it is abandoned.
 */
final class CoreSender implements SpillSender {

	private final SpillCore core;

	private final Lost lost;

	private final Cleaner.Cleanable cleanable;

	CoreSender(SpillCore core, SpillExecutor executor, @Nullable CreationTrace trace) {
		this.core = core;
		this.lost = new Lost(core, executor, trace);
		this.cleanable = SpillLease.CLEANER.register(this, this.lost);
	}

	@Override
	public CompletionStage<Void> write(RecordBatch batch) {
		try {
			return this.core.write(batch);
		}
		finally {
			Reference.reachabilityFence(this);
		}
	}

	@Override
	public CompletionStage<Void> finish() {
		try {
			return this.core.finish();
		}
		finally {
			Reference.reachabilityFence(this);
		}
	}

	@Override
	public void sendError(Throwable cause) {
		this.core.sendError(Objects.requireNonNull(cause, "'cause' must not be null"));
		Reference.reachabilityFence(this);
	}

	@Override
	public void close() {
		this.core.abandon("its sender was closed without finish() or sendError()", null);
		this.lost.ended.set(true);
		this.cleanable.clean();
	}

	/**
	 * Abandons the spill of a lost sender; must not refer to the sender.
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
			if (this.ended.compareAndSet(false, true) && !this.core.isEnded()) {
				// Not on the cleaner's thread: continuations of users may follow.
				this.executor.cleanUp(() -> this.core
					.abandon("its sender was lost without finish() or sendError(); it became unreachable", this.trace));
			}
		}

	}

}
