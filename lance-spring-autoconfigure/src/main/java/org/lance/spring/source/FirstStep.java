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

package org.lance.spring.source;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import org.lance.spring.stream.AsyncIterator;
import org.lance.spring.stream.Failures;

/**
 * Makes something of an iterator and its first item. If that fails, or nobody takes it
 * any more, the iterator is closed.
 */
final class FirstStep {

	private FirstStep() {
	}

	/**
	 * Takes the first step.
	 * @param maker makes the result, which then owns item and iterator
	 * @param closer closes a result that nobody takes, and the iterator with it
	 */
	static <T, R> CompletionStage<R> of(AsyncIterator<T> iterator, Function<Optional<T>, R> maker, Closer<R> closer) {
		CompletableFuture<Optional<T>> first = iterator.next().toCompletableFuture();
		// Of the same class as that of the iterator, which refuses waits on engine
		// threads.
		CompletableFuture<R> result = first.newIncompleteFuture();
		result.whenComplete((made, failure) -> {
			if (failure != null) {
				// Also when the caller cancelled, or had enough of waiting.
				iterator.close();
			}
		});
		first.whenComplete((item, failure) -> {
			if (failure != null) {
				iterator.close();
				result.completeExceptionally(Failures.unwrap(failure));
				return;
			}
			R made;
			try {
				made = maker.apply(item);
			}
			catch (Throwable ex) {
				iterator.close();
				result.completeExceptionally(ex);
				return;
			}
			if (!result.complete(made)) {
				closer.close(made);
			}
		});
		return result;
	}

	/**
	 * Closes a result.
	 *
	 * @param <R> the type of the result
	 */
	interface Closer<R> {

		void close(R result);

	}

}
