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

import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The part of an asynchronous iterator that differs from one to the next. Wrap it by
 * {@link AsyncIterator#from(AsyncStep)} or
 * {@link RecordBatchStream#from(org.apache.arrow.vector.types.pojo.Schema, java.util.Map, AsyncStep)},
 * which add what all iterators share: one call at a time, pull or publish mode, closing,
 * and the release of items that nobody takes.
 *
 * @param <T> the type of the items
 * @since 0.1.0
 */
public interface AsyncStep<T> {

	/**
	 * Produces the next item. Never called while an earlier stage is incomplete, never
	 * after an empty optional was given and never after {@link #release()}; it may be
	 * called again after a failure unless that {@linkplain #endsWithFailure() is the
	 * end}. Must not block. The receiver of the item owns it.
	 * @return the stage of the next item, or of an empty optional at the end
	 */
	CompletionStage<Optional<T>> advance();

	/**
	 * Asks a pending {@link #advance()} to end soon, because its caller went away. Called
	 * at most once, and not before that call of {@link #advance()} has returned. Must not
	 * block, and may come late: when the step has just ended, even after
	 * {@link #release()}. The default does nothing: the pending step ends by itself.
	 */
	default void cancel() {
	}

	/**
	 * Tells whether a failure is the end as well, because whatever is behind this step
	 * can't go on after it. The step is released at once then, without waiting for
	 * somebody to close the iterator. The default is that it can go on.
	 * @return whether it is; always the same answer
	 */
	default boolean endsWithFailure() {
		return false;
	}

	/**
	 * Gives everything back. Called exactly once, never while an {@link #advance()} is
	 * pending. Must not block.
	 * @return the stage that ends when everything is given back
	 */
	CompletionStage<Void> release();

	/**
	 * Returns how many items are still to come. May be called at any time by any thread.
	 * @return the hint
	 */
	default SizeHint sizeHint() {
		return SizeHint.UNKNOWN;
	}

}
