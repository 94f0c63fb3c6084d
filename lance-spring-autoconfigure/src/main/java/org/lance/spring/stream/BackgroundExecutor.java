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

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A bounded executor as background streams use it. Admission is per stream: opening one
 * takes a slot or fails at once. An admitted stream has at most one step queued, and that
 * step is never rejected while the executor lives.
 * <p>
 * Does not own the executor: whoever made that shuts it down, after {@link #close()}.
 *
 * @since 0.1.0
 */
public final class BackgroundExecutor implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(BackgroundExecutor.class);

	private final PatientExecutor executor;

	private final int maxStreams;

	private final AtomicInteger slots = new AtomicInteger();

	private final Map<AsyncIterator<?>, Boolean> streams = new ConcurrentHashMap<>();

	private final AtomicReference<@Nullable CompletableFuture<Void>> drained = new AtomicReference<>();

	private volatile boolean closed;

	/**
	 * Creates the view of an executor.
	 * @param executor runs the steps
	 * @param maxStreams how many streams may be open at once, 1 or more
	 * @param shutdown tells whether the executor was shut down and takes no task any more
	 */
	public BackgroundExecutor(Executor executor, int maxStreams, BooleanSupplier shutdown) {
		if (maxStreams < 1) {
			throw new IllegalArgumentException("'maxStreams' must be 1 or more, but was " + maxStreams);
		}
		this.executor = new PatientExecutor(executor, shutdown);
		this.maxStreams = maxStreams;
	}

	/**
	 * Creates the view of an executor service.
	 * @param executor runs the steps
	 * @param maxStreams how many streams may be open at once, 1 or more
	 */
	public BackgroundExecutor(ExecutorService executor, int maxStreams) {
		this(executor, maxStreams, executor::isShutdown);
	}

	/**
	 * Returns how many streams are open now.
	 * @return the number
	 */
	public int openStreams() {
		return this.streams.size();
	}

	/**
	 * Opens no more streams (until {@link #resume()}), lets open ones end within the
	 * time, then closes the rest; their callers get a
	 * {@link java.util.concurrent.CancellationException}. Never blocks.
	 * @param grace how long open streams may go on
	 * @return the stage that ends when no stream is open and all sources are closed
	 */
	public CompletionStage<Void> drain(Duration grace) {
		CompletableFuture<Void> fresh = EngineThreads.newFuture();
		CompletableFuture<Void> current = this.drained.accumulateAndGet(fresh,
				(old, next) -> (old != null) ? old : next);
		if (this.slots.get() == 0) {
			current.complete(null);
		}
		if (grace.isZero() || grace.isNegative()) {
			closeStreams();
		}
		else {
			// Async: what callers chained to their stages must not run on the JVM's
			// timer.
			current.copy().orTimeout(grace.toNanos(), TimeUnit.NANOSECONDS).whenCompleteAsync((result, ex) -> {
				if (ex instanceof TimeoutException) {
					closeStreams();
				}
			});
		}
		return current.copy();
	}

	/**
	 * Opens streams again after a {@link #drain(Duration)}, whose stage is cancelled if
	 * it has not ended.
	 */
	public void resume() {
		CompletableFuture<Void> current = this.drained.getAndSet(null);
		if (current != null) {
			current.cancel(false);
		}
	}

	/**
	 * Opens no more streams and closes those that are open; their callers get a
	 * {@link java.util.concurrent.CancellationException}. Does not wait for steps that
	 * are running and does not touch the executor. If the executor is shut down already,
	 * what is left to clean up is cleaned up on this thread.
	 */
	@Override
	public void close() {
		this.closed = true;
		closeStreams();
		this.executor.refuseAll();
	}

	private void closeStreams() {
		this.streams.keySet().forEach(AsyncIterator::close);
	}

	/**
	 * Takes a slot for one stream.
	 * @throws StreamAdmissionException if all slots are taken or the executor is shut
	 * down
	 */
	void admit() {
		int before = this.slots.getAndUpdate((taken) -> (taken < this.maxStreams) ? taken + 1 : taken);
		if (before >= this.maxStreams) {
			throw new StreamAdmissionException(
					("All %d slots for background streams are taken. Close streams, or raise "
							+ "'lance.background.queue-capacity' (slots = threads + queue capacity)")
						.formatted(this.maxStreams),
					this.maxStreams);
		}
		// Looked at while holding a slot, so that a drain either refuses or waits for it.
		if (this.closed || this.drained.get() != null || this.executor.isShutdown()) {
			leave(null);
			throw new StreamAdmissionException("The background executor is shut down and opens no more streams",
					this.maxStreams);
		}
	}

	/**
	 * Remembers an admitted stream, to close it with this executor.
	 */
	void opened(AsyncIterator<?> stream) {
		this.streams.put(stream, Boolean.TRUE);
		if (this.closed) {
			stream.close();
		}
	}

	/**
	 * Gives the slot of a stream back.
	 */
	void leave(@Nullable AsyncIterator<?> stream) {
		if (stream != null) {
			this.streams.remove(stream);
		}
		int open = this.slots.decrementAndGet();
		CompletableFuture<Void> current = this.drained.get();
		if (open == 0 && current != null) {
			current.complete(null);
		}
	}

	/**
	 * Runs a step of an admitted stream. If the queue is full of foreign tasks, the step
	 * is offered again a little later, without a thread that waits; {@code refused} runs
	 * only once the executor is shut down, or if it fails to take the step.
	 */
	void execute(Runnable step, Consumer<StreamAdmissionException> refused) {
		this.executor.execute(step, (cause) -> refused.accept(refusal(cause)));
	}

	private StreamAdmissionException refusal(@Nullable Throwable cause) {
		if (cause == null) {
			return new StreamAdmissionException(
					"The background executor was shut down before this stream came to its end", this.maxStreams);
		}
		return new StreamAdmissionException(
				("The background executor failed to take a step of this stream (%s). Look at its task decorator, "
						+ "if it has one")
					.formatted(cause),
				this.maxStreams, cause);
	}

	/**
	 * Runs cleanup on the executor, or elsewhere if the executor does not take it.
	 */
	void cleanUp(Runnable task) {
		this.executor.execute(task, (cause) -> {
			if (cause != null) {
				logger.warn("The background executor failed to take a cleanup, which is done on this thread", cause);
			}
			task.run();
		});
	}

}
