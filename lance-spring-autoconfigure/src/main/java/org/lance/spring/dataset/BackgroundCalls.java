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

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.BackgroundIterator;
import org.lance.spring.stream.EngineFuture;
import org.lance.spring.stream.Failures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs blocking calls on the background executor, each as a stream of one item, so that
 * they are admitted and cancelled as streams are.
 */
final class BackgroundCalls {

	private static final Logger logger = LoggerFactory.getLogger(BackgroundCalls.class);

	private BackgroundCalls() {
	}

	/**
	 * Runs a call.
	 * @return the future of its result, which completes after the call has given its slot
	 * back; a result that nobody takes is closed
	 */
	static <T> EngineFuture<T> run(BackgroundExecutor executor, Callable<T> call) {
		EngineFuture<T> future = new EngineFuture<>();
		BackgroundIterator<T> stream;
		try {
			stream = BackgroundIterator.of(new OneCall<>(call), executor, 0);
		}
		catch (RuntimeException ex) {
			future.completeExceptionally(ex);
			return future;
		}
		stream.next().whenComplete((item, failure) -> {
			stream.close();
			stream.closed().whenComplete((nothing, ignored) -> complete(future, item, failure));
		});
		return future;
	}

	private static <T> void complete(EngineFuture<T> future, @Nullable Optional<T> item, @Nullable Throwable failure) {
		if (item == null || item.isEmpty()) {
			future.completeExceptionally(Failures.unwrap(failure));
		}
		else if (!future.complete(item.get())) {
			discard(item.get());
		}
	}

	private static void discard(Object item) {
		if (item instanceof OpenScan scan) {
			try {
				scan.close();
			}
			catch (RuntimeException ex) {
				logger.warn("A scan that nobody wants any more could not be closed", ex);
			}
		}
	}

	/**
	 * A call as an iterator of its result.
	 */
	private static final class OneCall<T> implements Iterator<T> {

		private @Nullable Callable<T> call;

		OneCall(Callable<T> call) {
			this.call = call;
		}

		@Override
		public boolean hasNext() {
			return this.call != null;
		}

		@Override
		public T next() {
			Callable<T> once = this.call;
			if (once == null) {
				throw new NoSuchElementException();
			}
			this.call = null;
			try {
				return once.call();
			}
			catch (RuntimeException ex) {
				throw ex;
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
