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

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

import org.jspecify.annotations.Nullable;

/**
 * What all asynchronous iterators share, around the one step that differs: one call at a
 * time, pull or publish mode, closing exactly once, and the release of items that nobody
 * takes. All transitions happen under the lock; stages complete outside it.
 *
 * @param <T> the type of the items
 */
class StepIterator<T> implements AsyncIterator<T> {

	private enum Mode {

		UNUSED, PULL, PUBLISH

	}

	private final Object lock = new Object();

	private final AsyncStep<T> step;

	private final EngineFuture<Void> closed = new EngineFuture<>();

	private Mode mode = Mode.UNUSED;

	private @Nullable CompletableFuture<Optional<T>> pending;

	private boolean advancing;

	/**
	 * Whether a call of {@link AsyncStep#advance()} has not returned. The step does not
	 * know of that call yet, so a cancel must wait until it does.
	 */
	private boolean entering;

	private boolean ended;

	private @Nullable Throwable endedBy;

	private boolean fused;

	private boolean closing;

	private boolean released;

	StepIterator(AsyncStep<T> step) {
		this.step = step;
	}

	@Override
	public CompletionStage<Optional<T>> next() {
		return next(Mode.PULL);
	}

	@Override
	public SizeHint sizeHint() {
		synchronized (this.lock) {
			if (this.ended || this.closing) {
				return SizeHint.exactly(0);
			}
		}
		return this.step.sizeHint();
	}

	@Override
	public void subscribe(Flow.Subscriber<? super T> subscriber) {
		if (subscriber == null) {
			throw new NullPointerException("'subscriber' must not be null");
		}
		boolean first;
		synchronized (this.lock) {
			first = this.mode == Mode.UNUSED;
			if (first) {
				this.mode = Mode.PUBLISH;
			}
		}
		IteratorSubscription.start(this, subscriber, first);
	}

	@Override
	public AsyncIterator<T> fuse() {
		synchronized (this.lock) {
			this.fused = true;
		}
		return this;
	}

	/**
	 * The next item for the one subscriber.
	 */
	final CompletionStage<Optional<T>> nextForSubscriber() {
		return next(Mode.PUBLISH);
	}

	private CompletionStage<Optional<T>> next(Mode as) {
		CompletableFuture<Optional<T>> future = new EngineFuture<>();
		synchronized (this.lock) {
			if (this.mode != as && this.mode != Mode.UNUSED) {
				return EngineFuture.failed(new IllegalStateException(
						"This iterator has a subscriber and can't be pulled directly as well"));
			}
			this.mode = as;
			if (this.closing) {
				return EngineFuture.failed(closedException());
			}
			if (this.ended && this.fused) {
				return EngineFuture.completed(Optional.empty());
			}
			if (this.ended) {
				return EngineFuture.failed(new IllegalStateException(
						"This iterator has ended; use fuse() for one that keeps answering the end", this.endedBy));
			}
			if (this.advancing) {
				return EngineFuture.failed(new IllegalStateException(
						"The last call of next() is not complete; an iterator takes one call at a time"));
			}
			this.advancing = true;
			this.entering = true;
			this.pending = future;
		}
		advance(future);
		return future;
	}

	private void advance(CompletableFuture<Optional<T>> future) {
		CompletionStage<Optional<T>> stage;
		try {
			stage = Objects.requireNonNull(this.step.advance(), "The step answered no stage");
		}
		catch (Throwable ex) {
			entered();
			advanced(future, null, ex);
			return;
		}
		try {
			if (entered()) {
				this.step.cancel();
			}
		}
		finally {
			stage.whenComplete((item, failure) -> advanced(future, item, failure));
		}
	}

	/**
	 * Notes that the step knows of the call.
	 * @return whether the iterator was closed before
	 */
	private boolean entered() {
		synchronized (this.lock) {
			this.entering = false;
			return this.closing;
		}
	}

	private void advanced(CompletableFuture<Optional<T>> future, @Nullable Optional<T> item,
			@Nullable Throwable thrown) {
		Throwable failure = Failures.unwrap(thrown);
		if (failure == null && item == null) {
			failure = new IllegalStateException("The step answered null; an empty optional stands for the end");
		}
		boolean release;
		boolean deliver;
		synchronized (this.lock) {
			this.advancing = false;
			this.pending = null;
			deliver = !this.closing;
			if (failure != null && this.step.endsWithFailure()) {
				this.ended = true;
				this.endedBy = failure;
			}
			this.ended |= item != null && item.isEmpty();
			release = (this.closing || this.ended) && !this.released;
			this.released |= release;
		}
		if (failure != null) {
			future.completeExceptionally(deliver ? failure : closedException());
		}
		else if (!deliver || !future.complete(item)) {
			Items.discard(item);
		}
		if (release) {
			release();
		}
	}

	@Override
	public void close() {
		CompletableFuture<Optional<T>> cancelled;
		boolean known;
		boolean release;
		synchronized (this.lock) {
			if (this.closing) {
				return;
			}
			this.closing = true;
			cancelled = this.pending;
			this.pending = null;
			known = !this.entering;
			release = !this.advancing && !this.released;
			this.released |= release;
		}
		if (cancelled != null) {
			try {
				if (known) {
					this.step.cancel();
				}
			}
			finally {
				cancelled.completeExceptionally(closedException());
			}
		}
		if (release) {
			release();
		}
	}

	private static CancellationException closedException() {
		return new CancellationException("This iterator was closed");
	}

	@Override
	public CompletionStage<Void> closed() {
		// A copy: nobody but us completes the stage, and it refuses to be waited for.
		return this.closed.copy();
	}

	private void release() {
		try {
			this.step.release().whenComplete((done, failure) -> {
				if (failure != null) {
					this.closed.completeExceptionally(Failures.unwrap(failure));
				}
				else {
					this.closed.complete(null);
				}
			});
		}
		catch (Throwable ex) {
			this.closed.completeExceptionally(ex);
		}
	}

}
