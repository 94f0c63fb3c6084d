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

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.PatientExecutor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The spill executor as one spill or manager uses it: a task either runs there, or its
 * replacement runs elsewhere because the executor was shut down. None is lost, also not
 * those that an executor throws away with its queue.
 */
final class SpillExecutor {

	private static final Logger logger = LoggerFactory.getLogger(SpillExecutor.class);

	/**
	 * The task that this thread runs, and what has been added to it.
	 */
	private static final ThreadLocal<@Nullable Turn> TURN = new ThreadLocal<>();

	private final Executor threads;

	private final BooleanSupplier shutdown;

	private final PatientExecutor executor;

	private final LongSupplier ticker;

	SpillExecutor(Executor executor, BooleanSupplier shutdown) {
		this(executor, shutdown, System::nanoTime);
	}

	/**
	 * Creates a view of an executor.
	 * @param ticker the time in nanoseconds, from any origin
	 */
	SpillExecutor(Executor executor, BooleanSupplier shutdown, LongSupplier ticker) {
		this.ticker = ticker;
		this.threads = executor;
		this.shutdown = shutdown;
		this.executor = new PatientExecutor(executor, shutdown);
	}

	/**
	 * Runs a task on the executor.
	 * @param task what to run
	 * @param rejected runs instead, on some thread of the engine's or the caller's, once
	 * the executor is shut down or fails to take the task
	 */
	void execute(Runnable task, Runnable rejected) {
		this.executor.execute(() -> begin(task), (cause) -> {
			if (cause != null) {
				logger.warn("The spill executor failed to take a task", cause);
			}
			run(rejected);
		});
	}

	/**
	 * Runs a task on the executor: on this thread, now, if it is one of the executor's
	 * that has done one thing after the other for a short time only. A reader or writer
	 * that goes on in its callback saves the way through the queue like this, and the
	 * threads that it wakes; others still get their turn.
	 * @param rejected as for {@link #execute}
	 */
	void goOn(Runnable task, Runnable rejected) {
		Turn turn = TURN.get();
		if (turn != null && turn.threads == this.threads && turn.mayGoOn() && !this.shutdown.getAsBoolean()) {
			turn.depth++;
			run(task);
			turn.depth--;
		}
		else {
			execute(task, rejected);
		}
	}

	private void begin(Runnable task) {
		Turn before = TURN.get();
		TURN.set(new Turn(this.threads, this.ticker));
		try {
			run(task);
		}
		finally {
			if (before != null) {
				TURN.set(before);
			}
			else {
				TURN.remove();
			}
		}
	}

	/**
	 * Runs clean-up on the executor, or elsewhere once the executor is shut down.
	 */
	void cleanUp(Runnable task) {
		execute(task, task);
	}

	private static void run(Runnable task) {
		try {
			task.run();
		}
		catch (Throwable ex) {
			// A thread of the pool must not die of it; tasks report by themselves.
			logger.error("A task of a spill failed", ex);
		}
	}

	/**
	 * Runs, on this thread, the replacement of every task that a shut-down executor may
	 * have thrown away.
	 */
	void settle() {
		this.executor.refuseAll();
	}

	/**
	 * What a thread does without giving others a turn.
	 */
	private static final class Turn {

		/**
		 * Callers that do not loop but call themselves grow the stack.
		 */
		private static final int MAX_DEPTH = 16;

		private static final long MAX_NANOS = Duration.ofMillis(20).toNanos();

		private final Executor threads;

		private final LongSupplier ticker;

		private final long start;

		private int depth;

		Turn(Executor threads, LongSupplier ticker) {
			this.threads = threads;
			this.ticker = ticker;
			this.start = ticker.getAsLong();
		}

		boolean mayGoOn() {
			return this.depth < MAX_DEPTH && this.ticker.getAsLong() - this.start < MAX_NANOS;
		}

	}

}
