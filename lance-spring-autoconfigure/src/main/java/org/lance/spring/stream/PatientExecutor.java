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

import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Hands tasks to an executor so that each of them comes to an end exactly once: it runs,
 * or its refusal does, also when the executor is full of foreign tasks for a while, is
 * shut down and forgets what it had queued, or fails to take a task. No thread waits for
 * any of it.
 * <p>
 * <b>Ownership.</b> The executor stays the caller's. <b>Threads.</b> Any.
 * <p>
 * Public for the other packages of this library only; may change in any release.
 *
 * @since 0.1.0
 */
public final class PatientExecutor {

	private static final long RETRY_MILLIS = 5;

	private static final long WATCH_MILLIS = 100;

	private final Executor executor;

	private final BooleanSupplier shutdown;

	/**
	 * Tasks that neither run nor were refused.
	 */
	private final Set<Task> tasks = ConcurrentHashMap.newKeySet();

	/**
	 * Those of them that the executor did not take yet.
	 */
	private final Queue<Task> postponed = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean retrying = new AtomicBoolean();

	private final AtomicBoolean watching = new AtomicBoolean();

	/**
	 * Creates a view of an executor.
	 * @param executor runs the tasks; not shut down
	 * @param shutdown tells whether the executor was shut down and takes no task any more
	 */
	public PatientExecutor(Executor executor, BooleanSupplier shutdown) {
		this.executor = executor;
		this.shutdown = shutdown;
	}

	boolean isShutdown() {
		return this.shutdown.getAsBoolean();
	}

	/**
	 * Runs a task on the executor, on a thread marked as one of the engine. While that is
	 * full, the task is offered again a little later, without a thread that waits.
	 * @param step the task
	 * @param refusal runs instead once the executor is shut down or fails to take the
	 * task (it is given that failure), on this thread or one of its own
	 */
	public void execute(Runnable step, Consumer<@Nullable Throwable> refusal) {
		Task task = new Task(step, refusal);
		this.tasks.add(task);
		offer(task, Runnable::run);
		watch();
	}

	private void offer(Task task, Executor refusals) {
		try {
			this.executor.execute(task);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			// An OutOfMemoryError says that no thread could be made just now.
			if (isShutdown()) {
				refusals.execute(() -> task.refuse(null));
			}
			else {
				this.postponed.add(task);
				retry();
			}
		}
		catch (Throwable ex) {
			// Such as a task decorator that fails. Nobody knows whether it will work
			// later,
			// so its caller gets to know now.
			refusals.execute(() -> task.refuse(ex));
		}
	}

	private void retry() {
		if (!this.postponed.isEmpty() && this.retrying.compareAndSet(false, true)) {
			later(RETRY_MILLIS, () -> {
				this.retrying.set(false);
				for (int left = this.postponed.size(); left > 0; left--) {
					Task task = this.postponed.poll();
					if (task != null) {
						offer(task, PatientExecutor::onThreadOfItsOwn);
					}
				}
				retry();
			});
		}
	}

	/**
	 * Looks, as long as there are tasks, whether the executor was shut down and has
	 * dropped them.
	 */
	private void watch() {
		if (!this.tasks.isEmpty() && this.watching.compareAndSet(false, true)) {
			later(WATCH_MILLIS, () -> {
				this.watching.set(false);
				if (!isShutdown()) {
					watch();
				}
				else if (!this.tasks.isEmpty()) {
					onThreadOfItsOwn(this::refuseAll);
				}
			});
		}
	}

	/**
	 * A refusal may close a source, which may take its time: not on a thread that the
	 * whole JVM shares.
	 */
	private static void onThreadOfItsOwn(Runnable refusal) {
		Thread thread = new Thread(refusal, "lance-refusal");
		thread.setDaemon(true);
		try {
			thread.start();
		}
		catch (OutOfMemoryError ex) {
			// There is no thread to be had, and somebody waits for the answer.
			refusal.run();
		}
	}

	private static void later(long millis, Runnable task) {
		CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS).execute(task);
	}

	/**
	 * Refuses, on this thread, what the executor will not run any more because it was
	 * shut down. Without effect before that.
	 */
	public void refuseAll() {
		if (isShutdown()) {
			this.tasks.forEach((task) -> task.refuse(null));
		}
	}

	/**
	 * A task that runs once, or is refused once.
	 */
	private final class Task implements Runnable {

		private final Runnable step;

		private final Consumer<@Nullable Throwable> refusal;

		Task(Runnable step, Consumer<@Nullable Throwable> refusal) {
			this.step = step;
			this.refusal = refusal;
		}

		@Override
		public void run() {
			if (PatientExecutor.this.tasks.remove(this)) {
				EngineThreads.run(this.step);
			}
		}

		void refuse(@Nullable Throwable cause) {
			if (PatientExecutor.this.tasks.remove(this)) {
				EngineThreads.run(() -> this.refusal.accept(cause));
			}
		}

	}

}
