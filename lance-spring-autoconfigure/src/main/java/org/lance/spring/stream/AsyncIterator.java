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

import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.function.Consumer;

/**
 * An iterator whose steps are asynchronous. The one primitive is {@link #next()};
 * everything else derives from it.
 * <p>
 * <b>Modes.</b> The first use decides: either the iterator is pulled ({@link #next()} and
 * what derives from it) or published ({@link #subscribe(Flow.Subscriber)}), never both.
 * <p>
 * <b>Ownership.</b> Whoever is given an item owns it. An item that is
 * {@link AutoCloseable} and that its caller no longer takes (the stage was cancelled or
 * timed out, or the iterator was closed meanwhile) is closed by the iterator. After a
 * subscription is cancelled, what was read ahead is closed as well. Operators of reactive
 * libraries that hold items own them like any subscriber, and drop them at a cancel: in
 * Reactor, {@code doOnDiscard(RecordBatch.class, RecordBatch::close)} below
 * {@code publishOn}, {@code flatMap} or a buffer closes them.
 * <p>
 * <b>Threads.</b> May be used from any thread, one call at a time. Stages complete on a
 * thread of the engine or on the caller's: what is chained to them must not block. Use
 * the {@code …Async} methods of the stage with an executor of your own for blocking work.
 * <p>
 * Counterpart of a Rust {@code Stream}; steps of blocking iterators come from
 * {@link BackgroundIterator}.
 *
 * @param <T> the type of the items
 * @since 0.1.0
 */
public interface AsyncIterator<T> extends Flow.Publisher<T>, AutoCloseable {

	/**
	 * Asks for the next item. At most one call may be outstanding. Wrong use (a call
	 * while another is outstanding, after the end of an iterator that is not fused, or in
	 * publish mode) is an {@link IllegalStateException} in the returned stage; after
	 * {@link #close()} it is a {@link java.util.concurrent.CancellationException}.
	 * @return the stage of the next item, or of an empty optional at the end; its future
	 * refuses to be waited for on a thread of the engine
	 */
	CompletionStage<Optional<T>> next();

	/**
	 * Returns how many items are still to come; also while a step is running.
	 * @return the hint
	 */
	SizeHint sizeHint();

	/**
	 * Cancels. Never blocks, may be called in any state, by any thread and any number of
	 * times. A pending {@link #next()} fails with a
	 * {@link java.util.concurrent.CancellationException}.
	 */
	@Override
	void close();

	/**
	 * Returns the stage that ends when the source is closed and everything read ahead is
	 * given back: after {@link #close()}, after the end and after a failure of a source
	 * that can't go on.
	 * @return the stage; it fails if closing the source failed
	 */
	CompletionStage<Void> closed();

	/**
	 * Makes this iterator keep answering the end once it was reached.
	 * @return this iterator
	 */
	AsyncIterator<T> fuse();

	/**
	 * Hands every remaining item to {@code action}, one after the other, then closes this
	 * iterator. The stack does not grow with the number of items that are ready. The
	 * action owns each item and must not block; an exception of it ends the iteration
	 * with that exception.
	 * @param action what to do with each item
	 * @return the stage that ends after the last item and after this iterator was closed
	 */
	default CompletionStage<Void> forEach(Consumer<? super T> action) {
		return AsyncLoop.forEach(this, action);
	}

	/**
	 * Collects all remaining items, then closes this iterator. If it fails, the items
	 * collected so far are closed.
	 * @return the stage of the items, all owned by the caller
	 */
	default CompletionStage<List<T>> collect() {
		return AsyncLoop.collect(this);
	}

	/**
	 * Returns a view for ordinary blocking code. Its methods refuse to run on a thread of
	 * the engine ({@link IllegalStateException}), because that thread may be the one that
	 * would have to produce the item. The failure of the iterator is thrown as it is when
	 * it is unchecked, and as the cause of a
	 * {@link java.util.concurrent.CompletionException} otherwise.
	 * @return the view; closing this iterator ends it
	 */
	default Iterator<T> blocking() {
		return new BlockingIterator<>(this);
	}

	/**
	 * Makes an iterator from its step.
	 * @param <T> the type of the items
	 * @param step the step, owned by the iterator
	 * @return the iterator
	 */
	static <T> AsyncIterator<T> from(AsyncStep<T> step) {
		return new StepIterator<>(step);
	}

}
