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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;
import org.lance.spring.source.ReopenableSource;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.stream.EngineThreads;
import org.lance.spring.stream.Failures;

/**
 * Writes a source again when writing it failed for a reason that may pass, such as a
 * conflict with another writer: each attempt opens the source from its first batch on.
 * Immutable.
 * <p>
 * A failure of the source itself is never tried again: it would come each time.
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
	 * @param pause how long, 0 or more
	 * @return the retry
	 */
	public ReplayRetry pausing(Duration pause) {
		if (pause.isNegative()) {
			throw new IllegalArgumentException("'pause' must be 0 or more, but was " + pause);
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
		open(source).thenCompose((opened) -> write(opened, number, attempt)).whenComplete((value, wrapped) -> {
			if (wrapped == null) {
				result.complete(value);
				return;
			}
			Throwable failure = Failures.unwrap(wrapped);
			if (before != null && before != failure) {
				failure.addSuppressed(before);
			}
			if (number == this.attempts || isOfTheSource(failure) || result.isDone() || !isRetryable(failure)) {
				result.completeExceptionally(failure);
			}
			else {
				later(() -> attempt(number + 1, failure, source, attempt, result));
			}
		});
	}

	private static CompletionStage<StreamingWriteSource> open(ReopenableSource source) {
		try {
			return source.open();
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private static <T> CompletionStage<T> write(StreamingWriteSource opened, int number, Attempt<T> attempt) {
		CompletionStage<T> written;
		try {
			written = attempt.write(opened, number);
		}
		catch (Throwable ex) {
			opened.close();
			return CompletableFuture.failedFuture(ex);
		}
		// Without effect if the attempt made a stream of it, as it should.
		return written.whenComplete((value, failure) -> opened.close());
	}

	private boolean isRetryable(Throwable failure) {
		try {
			return this.retryable.test(failure);
		}
		catch (RuntimeException ex) {
			failure.addSuppressed(ex);
			return false;
		}
	}

	/**
	 * Whoever writes wraps what its source threw.
	 */
	private static boolean isOfTheSource(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof SpillException) {
				return true;
			}
		}
		return false;
	}

	private void later(Runnable task) {
		if (this.pause.isZero()) {
			task.run();
		}
		else {
			CompletableFuture.delayedExecutor(this.pause.toNanos(), TimeUnit.NANOSECONDS).execute(task);
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
