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
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;
import org.lance.spring.source.ReopenableSource;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.stream.ArrowDataException;
import org.lance.spring.stream.EngineThreads;
import org.lance.spring.stream.Failures;

/**
 * Writes a source again when writing it failed for a reason that may pass, such as a
 * conflict with another writer: each attempt opens the source from its first batch on.
 * Immutable.
 * <p>
 * A failure of the source itself is never tried again, as it would come each time: a
 * source that can't be opened, one whose spill got its failure, and
 * {@linkplain ArrowDataException data that can't be taken}.
 * <p>
 * <b>Threads.</b> The first attempt begins on the thread of the caller if the source is
 * at hand, later ones on a thread that the whole JVM shares: they must not block.
 * <b>Cancelling</b> the stage begins no further attempt, asks that of the running one to
 * be cancelled, and closes the source.
 *
 * @since 0.1.0
 */
public final class ReplayRetry {

	private final int attempts;

	private final Duration pause;

	private final Predicate<Throwable> retryable;

	private ReplayRetry(int attempts, Duration pause, Predicate<Throwable> retryable) {
		this.attempts = attempts;
		this.pause = pause;
		this.retryable = retryable;
	}

	/**
	 * Returns what tries a number of times, without a pause, after any exception.
	 * @param attempts how often at most, 1 or more
	 * @return the retry
	 */
	public static ReplayRetry upTo(int attempts) {
		if (attempts < 1) {
			throw new IllegalArgumentException("'attempts' must be 1 or more, but was " + attempts);
		}
		return new ReplayRetry(attempts, Duration.ZERO, (failure) -> failure instanceof Exception);
	}

	/**
	 * Returns the same with a pause before each attempt but the first. No thread waits.
	 * @param pause how long, 0 to one day; whole milliseconds count
	 * @return the retry
	 */
	public ReplayRetry pausing(Duration pause) {
		if (pause.isNegative() || pause.compareTo(Duration.ofDays(1)) > 0) {
			throw new IllegalArgumentException("'pause' must be between 0 and one day, but was " + pause);
		}
		return new ReplayRetry(this.attempts, pause, this.retryable);
	}

	/**
	 * Returns the same for certain failures only.
	 * @param retryable tells of the failure of an attempt, without wrappers, whether
	 * another one makes sense
	 * @return the retry
	 */
	public ReplayRetry when(Predicate<Throwable> retryable) {
		return new ReplayRetry(this.attempts, this.pause, retryable);
	}

	/**
	 * Writes a source that can be read once: it is drained into a spill meanwhile, which
	 * is closed at the end.
	 * @param <T> the type of the result
	 * @param spills makes the spill
	 * @param source the source, taken over, also when this method throws
	 * @param attempt writes it
	 * @return the stage of the result of the attempt that worked, or of the failure of
	 * the last one, with those before it suppressed
	 */
	public <T> CompletionStage<T> write(SpillManager spills, StreamingWriteSource source, Attempt<T> attempt) {
		return write(spills.reopenable(source), attempt);
	}

	/**
	 * Writes a source that can be opened again: nothing is spilled.
	 * @param <T> the type of the result
	 * @param source the source, taken over: closed at the end
	 * @param attempt writes it
	 * @return the stage of the result of the attempt that worked, or of the failure of
	 * the last one, with those before it suppressed
	 */
	public <T> CompletionStage<T> write(ReopenableSource source, Attempt<T> attempt) {
		CompletableFuture<T> result = EngineThreads.newFuture();
		attempt(1, null, source, attempt, result);
		result.whenComplete((value, failure) -> source.close());
		return result;
	}

	private <T> void attempt(int number, @Nullable Throwable before, ReopenableSource source, Attempt<T> attempt,
			CompletableFuture<T> result) {
		if (result.isDone()) {
			return;
		}
		CompletionStage<T> written = call(source::open)
			.handle((opened, failure) -> (failure != null) ? CompletableFuture.<T>failedFuture(new Unopened(failure))
					: write(opened, number, attempt, result))
			.thenCompose(Function.identity());
		written.whenComplete((value, wrapped) -> {
			if (wrapped == null) {
				result.complete(value);
				return;
			}
			Throwable failure = Failures.unwrap(wrapped);
			boolean ofTheSource = failure instanceof Unopened || isOfTheSource(failure);
			Throwable cause = (failure instanceof Unopened) ? Failures.unwrap(failure.getCause()) : failure;
			if (before != null && before != cause) {
				cause.addSuppressed(before);
			}
			if (number == this.attempts || ofTheSource || !isRetryable(cause)) {
				result.completeExceptionally(cause);
			}
			else {
				// Never on this stack: there may be many attempts.
				CompletableFuture.delayedExecutor(this.pause.toMillis(), TimeUnit.MILLISECONDS)
					.execute(() -> attempt(number + 1, cause, source, attempt, result));
			}
		});
	}

	private static <T> CompletionStage<T> write(StreamingWriteSource opened, int number, Attempt<T> attempt,
			CompletableFuture<T> result) {
		CompletionStage<T> written = call(() -> attempt.write(opened, number));
		result.whenComplete((value, failure) -> {
			if (result.isCancelled()) {
				written.toCompletableFuture().cancel(false);
			}
		});
		// Closing is without effect if the attempt made a stream of it.
		return written.whenComplete((value, failure) -> opened.close());
	}

	private static <T> CompletionStage<T> call(Callable<CompletionStage<T>> call) {
		try {
			return Objects.requireNonNull(call.call(), "There is no stage");
		}
		catch (Throwable ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private boolean isRetryable(Throwable failure) {
		try {
			return this.retryable.test(failure);
		}
		catch (Throwable ex) {
			failure.addSuppressed(ex);
			return false;
		}
	}

	/**
	 * Whoever writes wraps what its source threw. Data that can't be taken stays so.
	 */
	private static boolean isOfTheSource(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof SpillSourceFailedException || cause instanceof ArrowDataException) {
				return true;
			}
		}
		return false;
	}

	/**
	 * The source could not be opened.
	 */
	private static final class Unopened extends Exception {

		private static final long serialVersionUID = 1L;

		Unopened(Throwable cause) {
			super(cause);
		}

	}

	/**
	 * Writes a source once.
	 *
	 * @param <T> the type of the result
	 * @since 0.1.0
	 */
	@FunctionalInterface
	public interface Attempt<T> {

		/**
		 * Writes a source.
		 * @param source the source; closed when the stage ends, if it was not used
		 * @param number the number of the attempt, from 1
		 * @return the stage of the result
		 * @throws Exception if the attempt fails at once
		 */
		CompletionStage<T> write(StreamingWriteSource source, int number) throws Exception;

	}

}
