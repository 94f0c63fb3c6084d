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

package org.lance.spring.dataset;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.EngineThreads;

/**
 * The threads of writes, one for each write that runs, because the native call blocks its
 * thread until the write has ended. Platform threads, also where virtual threads are on:
 * a native call pins its carrier. A pool of its own, because the sources are read on the
 * background executor, which must not wait for a write.
 */
final class WritePool implements AutoCloseable {

	private static final long IDLE_SECONDS = 30;

	private final ThreadPoolExecutor executor;

	private final int maxWaiting;

	private final int maxOpen;

	/**
	 * Writes that hold a slot: given back before callers hear of the end, who may write
	 * on.
	 */
	private final AtomicInteger open = new AtomicInteger();

	/**
	 * Writes whose callers have not heard of the end yet.
	 */
	private final AtomicInteger unfinished = new AtomicInteger();

	private final Map<WriteJob, Boolean> jobs = new ConcurrentHashMap<>();

	/**
	 * The last create of each address: Lance lets the second of two creates that race
	 * replace the table of the first.
	 */
	private final Map<String, CompletableFuture<Void>> creates = new ConcurrentHashMap<>();

	private final CompletableFuture<Void> closed = new CompletableFuture<>();

	private final AtomicReference<@Nullable CompletableFuture<Void>> drained = new AtomicReference<>();

	private volatile boolean closing;

	WritePool(int threads, @Nullable ClassLoader contextClassLoader) {
		this(threads, threadFactory(contextClassLoader));
	}

	WritePool(int threads, ThreadFactory threadFactory) {
		if (threads < 1) {
			throw new IllegalArgumentException("'writeThreads' must be 1 or more, but was " + threads);
		}
		this.executor = new ThreadPoolExecutor(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), threadFactory);
		this.executor.allowCoreThreadTimeOut(true);
		this.maxWaiting = 2 * threads + 100;
		this.maxOpen = threads + this.maxWaiting;
	}

	private static ThreadFactory threadFactory(@Nullable ClassLoader contextClassLoader) {
		AtomicInteger number = new AtomicInteger();
		return (task) -> {
			Thread thread = new Thread(null, task, "lance-write-" + number.incrementAndGet(), 0, false);
			thread.setDaemon(true);
			thread.setContextClassLoader(contextClassLoader);
			return thread;
		};
	}

	/**
	 * Queues a write.
	 * @throws LanceRejectedException if too many are waiting
	 * @throws LanceClosedException if this pool is closed
	 */
	void submit(WriteJob job) {
		if (this.closing) {
			throw closedException(job.uri());
		}
		int before = this.open.getAndUpdate((count) -> (count < this.maxOpen) ? count + 1 : count);
		if (before >= this.maxOpen) {
			throw new LanceRejectedException(
					("%d writes are waiting for a thread, and no more may. Write '%s' later, "
							+ "or give the template more threads")
						.formatted(this.maxWaiting, job.uri()),
					job.uri(), this.maxWaiting);
		}
		// Looked at while it counts, so that a drain either refuses or waits for it.
		this.unfinished.incrementAndGet();
		if (this.drained.get() != null) {
			this.open.decrementAndGet();
			forget();
			throw closedException(job.uri());
		}
		this.jobs.put(job, Boolean.TRUE);
		if (this.closing) {
			job.stop(closedException(job.uri()));
		}
		after(job).whenComplete((nothing, ignored) -> execute(job, job::fail));
	}

	/**
	 * What a write has to wait for before it is queued.
	 */
	private CompletionStage<Void> after(WriteJob job) {
		if (job.mode() != LanceWriteMode.CREATE) {
			return CompletableFuture.completedFuture(null);
		}
		CompletableFuture<Void> before = new CompletableFuture<>();
		CompletableFuture<Void> tail = CompletableFuture.allOf(before, job.ended());
		CompletableFuture<Void> last = this.creates.put(job.uri(), tail);
		tail.whenComplete((nothing, ignored) -> this.creates.remove(job.uri(), tail));
		if (last == null) {
			before.complete(null);
		}
		else {
			last.whenComplete((nothing, ignored) -> before.complete(null));
		}
		return before;
	}

	/**
	 * Runs a part of an admitted write, which is never rejected: the pool lives as long
	 * as any write.
	 * @param part the part
	 * @param failed is told, on this thread, if no thread could be started; the part may
	 * still run, if another thread was faster to take it
	 */
	void execute(Runnable part, Consumer<Throwable> failed) {
		try {
			this.executor.execute(part);
		}
		catch (RejectedExecutionException ex) {
			// Only parts of writes that were stopped come so late.
			part.run();
		}
		catch (Throwable ex) {
			// An OutOfMemoryError as a rule. The part may be in the queue nevertheless.
			this.executor.remove(part);
			failed.accept(ex);
		}
	}

	/**
	 * Gives the slot of a write back that has ended.
	 */
	void leave(WriteJob job) {
		this.executor.remove(job);
		this.open.decrementAndGet();
	}

	/**
	 * Forgets a write whose caller has been told.
	 */
	void finished(WriteJob job) {
		this.jobs.remove(job);
		forget();
		endIfIdle();
	}

	private void forget() {
		int left = this.unfinished.decrementAndGet();
		CompletableFuture<Void> current = this.drained.get();
		if (left == 0 && current != null) {
			current.complete(null);
		}
	}

	/**
	 * Takes no more writes, lets open ones end within the time, then makes the rest fail.
	 * @return the stage that ends when no write is open
	 */
	CompletionStage<Void> drain(Duration grace) {
		CompletableFuture<Void> fresh = EngineThreads.newFuture();
		CompletableFuture<Void> current = this.drained.accumulateAndGet(fresh,
				(old, next) -> (old != null) ? old : next);
		if (this.unfinished.get() == 0) {
			current.complete(null);
		}
		if (grace.isZero() || grace.isNegative()) {
			stopAll();
		}
		else {
			// Async: what callers chained to their stages must not run on the JVM's
			// timer.
			current.copy().orTimeout(grace.toNanos(), TimeUnit.NANOSECONDS).whenCompleteAsync((result, ex) -> {
				if (ex instanceof TimeoutException) {
					stopAll();
				}
			});
		}
		return current.copy();
	}

	/**
	 * Takes writes again.
	 */
	void resume() {
		CompletableFuture<Void> current = this.drained.getAndSet(null);
		if (current != null) {
			current.cancel(false);
		}
	}

	private void stopAll() {
		this.jobs.keySet().forEach((job) -> job.stop(closedException(job.uri())));
	}

	int openWrites() {
		return this.open.get();
	}

	int busyThreads() {
		return this.executor.getActiveCount();
	}

	CompletionStage<Void> closed() {
		return this.closed;
	}

	/**
	 * Makes all writes fail; waits for none.
	 */
	@Override
	public void close() {
		this.closing = true;
		stopAll();
		endIfIdle();
	}

	private void endIfIdle() {
		if (this.closing && this.jobs.isEmpty()) {
			this.executor.shutdown();
			this.closed.complete(null);
		}
	}

	static LanceClosedException closedException(@Nullable String uri) {
		return new LanceClosedException("The Lance template is closed; it was shut down with the application", uri,
				null);
	}

}
