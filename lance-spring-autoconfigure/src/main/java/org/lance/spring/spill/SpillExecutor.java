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

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

import org.lance.spring.stream.EngineThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The spill executor as one spill or manager uses it: a task either runs there, or its
 * replacement runs here because the executor was shut down. None is lost, also not those
 * that an executor throws away with its queue.
 */
final class SpillExecutor {

	private static final Logger logger = LoggerFactory.getLogger(SpillExecutor.class);

	private static final long RETRY_MILLIS = 5;

	private final Executor executor;

	private final BooleanSupplier shutdown;

	private final Set<Task> queued = ConcurrentHashMap.newKeySet();

	SpillExecutor(Executor executor, BooleanSupplier shutdown) {
		this.executor = executor;
		this.shutdown = shutdown;
	}

	/**
	 * Runs a task on the executor.
	 * @param task what to run
	 * @param rejected runs instead, on some thread of the engine's or the caller's, once
	 * the executor is shut down
	 */
	void execute(Runnable task, Runnable rejected) {
		Task queuedTask = new Task(task, rejected);
		this.queued.add(queuedTask);
		offer(queuedTask);
	}

	/**
	 * Runs clean-up on the executor, or on this thread once the executor is shut down.
	 */
	void cleanUp(Runnable task) {
		execute(task, task);
	}

	private void offer(Task task) {
		try {
			this.executor.execute(task);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			if (this.shutdown.getAsBoolean()) {
				task.reject();
				return;
			}
			// An OutOfMemoryError says that no thread could be made just now.
			// The queue is full of foreign tasks; no thread waits for it.
			CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
				.execute(() -> offer(task));
		}
	}

	/**
	 * Runs, on this thread, the replacement of every task that a shut-down executor may
	 * have thrown away.
	 */
	void settle() {
		if (this.shutdown.getAsBoolean()) {
			this.queued.forEach(Task::reject);
		}
	}

	/**
	 * A task that runs once: as it is, or its replacement.
	 */
	private final class Task implements Runnable {

		private final AtomicBoolean taken = new AtomicBoolean();

		private final Runnable task;

		private final Runnable rejected;

		Task(Runnable task, Runnable rejected) {
			this.task = task;
			this.rejected = rejected;
		}

		@Override
		public void run() {
			take(this.task);
		}

		void reject() {
			take(this.rejected);
		}

		private void take(Runnable what) {
			if (!this.taken.compareAndSet(false, true)) {
				return;
			}
			SpillExecutor.this.queued.remove(this);
			try {
				EngineThreads.run(what);
			}
			catch (Throwable ex) {
				// A thread of the pool must not die of it; tasks report by themselves.
				logger.error("A task of a spill failed", ex);
			}
		}

	}

}
