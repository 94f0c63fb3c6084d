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

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * The step of a {@link BackgroundIterator}: a state machine around a blocking iterator.
 * <ul>
 * <li><em>current</em>: {@code iterator} is here and nobody touches it,</li>
 * <li><em>queued</em>: a hop is on its way to the executor; whoever claims it first, the
 * executor or a cancel, owns the iterator,</li>
 * <li><em>running</em>: the hop owns the iterator,</li>
 * <li><em>empty</em>: the iterator is closed.</li>
 * </ul>
 *
 * @param <T> the type of the items
 */
final class BackgroundStep<T> implements AsyncStep<T> {

	/**
	 * A hop gives its thread up after so many items, that other streams get their turn.
	 */
	private static final int ITEMS_PER_HOP = 64;

	private static final long NANOS_PER_HOP = 2_000_000;

	private enum State {

		CURRENT, QUEUED, RUNNING, EMPTY

	}

	private final Object lock = new Object();

	private final Iterator<? extends T> iterator;

	private final BackgroundExecutor executor;

	private final int readAhead;

	private final CompletableFuture<Void> closed = new CompletableFuture<>();

	private final ArrayDeque<T> ready = new ArrayDeque<>();

	private State state = State.CURRENT;

	private SizeHint hint;

	private @Nullable CompletableFuture<Optional<T>> waiting;

	private @Nullable Throwable failure;

	private boolean cancelled;

	private @Nullable AsyncIterator<?> owner;

	private BackgroundStep(Iterator<? extends T> iterator, BackgroundExecutor executor, int readAhead) {
		this.iterator = iterator;
		this.executor = executor;
		this.readAhead = readAhead;
		this.hint = hint();
	}

	static <T> BackgroundStep<T> admitted(Iterator<? extends T> iterator, BackgroundExecutor executor, int readAhead) {
		if (readAhead < 0) {
			throw new IllegalArgumentException("'readAhead' must be 0 or more, but was " + readAhead);
		}
		executor.admit();
		try {
			return new BackgroundStep<>(iterator, executor, readAhead);
		}
		catch (Throwable ex) {
			executor.leave(null);
			throw ex;
		}
	}

	void opened(AsyncIterator<?> stream) {
		this.owner = stream;
		this.executor.opened(stream);
	}

	@Override
	public SizeHint sizeHint() {
		synchronized (this.lock) {
			return this.hint.plus(this.ready.size());
		}
	}

	@Override
	public CompletionStage<Optional<T>> advance() {
		CompletableFuture<Optional<T>> result;
		boolean hop;
		synchronized (this.lock) {
			T item = this.ready.poll();
			if (item != null) {
				result = CompletableFuture.completedFuture(Optional.of(item));
				hop = this.ready.size() < this.readAhead;
			}
			else if (this.state == State.EMPTY) {
				return over();
			}
			else {
				result = new CompletableFuture<>();
				this.waiting = result;
				hop = true;
			}
			hop = hop && this.state == State.CURRENT;
			if (hop) {
				this.state = State.QUEUED;
			}
		}
		if (hop) {
			queue();
		}
		return result;
	}

	private CompletionStage<Optional<T>> over() {
		Throwable reason = this.failure;
		return (reason != null) ? CompletableFuture.failedFuture(reason)
				: CompletableFuture.completedFuture(Optional.empty());
	}

	private void queue() {
		this.executor.execute(this::hop, (refusal) -> {
			if (claim()) {
				finish(refusal);
			}
		});
	}

	private boolean claim() {
		synchronized (this.lock) {
			if (this.state != State.QUEUED) {
				return false;
			}
			this.state = State.RUNNING;
			return true;
		}
	}

	private void hop() {
		if (!claim()) {
			return;
		}
		long start = System.nanoTime();
		for (int items = 1;; items++) {
			T item = null;
			SizeHint after;
			try {
				if (!this.iterator.hasNext()) {
					finish(null);
					return;
				}
				item = Objects.requireNonNull(this.iterator.next(), "The iterator returned null");
				after = hint();
			}
			catch (Throwable ex) {
				Items.discard(item);
				finish(ex);
				return;
			}
			boolean fair = items < ITEMS_PER_HOP && System.nanoTime() - start < NANOS_PER_HOP;
			if (!deliver(item, after, fair)) {
				return;
			}
		}
	}

	/**
	 * Hands an item on and decides what becomes of the hop.
	 * @return whether the hop goes on
	 */
	private boolean deliver(T item, SizeHint after, boolean fair) {
		CompletableFuture<Optional<T>> receiver;
		boolean stop;
		synchronized (this.lock) {
			this.hint = after;
			receiver = this.waiting;
			this.waiting = null;
			stop = this.cancelled;
			if (receiver == null && !stop) {
				this.ready.add(item);
			}
		}
		if (receiver != null) {
			receiver.complete(Optional.of(item));
		}
		else if (stop) {
			Items.discard(item);
		}
		boolean requeue;
		synchronized (this.lock) {
			stop = this.cancelled;
			boolean wanted = this.waiting != null || this.ready.size() < this.readAhead;
			if (!stop && wanted && fair) {
				return true;
			}
			requeue = !stop && wanted;
			this.state = stop ? State.RUNNING : requeue ? State.QUEUED : State.CURRENT;
		}
		if (stop) {
			finish(null);
		}
		else if (requeue) {
			queue();
		}
		return false;
	}

	/**
	 * Ends the iteration; called by whoever owns the iterator.
	 */
	private void finish(@Nullable Throwable reason) {
		Throwable closeFailure = closeIterator();
		CompletableFuture<Optional<T>> receiver;
		Throwable outcome = (reason != null) ? reason : closeFailure;
		if (reason != null && closeFailure != null && closeFailure != reason) {
			reason.addSuppressed(closeFailure);
		}
		synchronized (this.lock) {
			this.state = State.EMPTY;
			this.hint = SizeHint.exactly(0);
			receiver = this.waiting;
			this.waiting = null;
			this.failure = outcome;
		}
		this.executor.leave(this.owner);
		if (closeFailure != null) {
			this.closed.completeExceptionally(closeFailure);
		}
		else {
			this.closed.complete(null);
		}
		if (receiver != null) {
			if (outcome != null) {
				receiver.completeExceptionally(outcome);
			}
			else {
				receiver.complete(Optional.empty());
			}
		}
	}

	private @Nullable Throwable closeIterator() {
		// A source that closes files must not find them closed by an interrupt that was
		// meant for one of its reads.
		boolean interrupted = Thread.interrupted();
		try {
			if (this.iterator instanceof AutoCloseable closeable) {
				closeable.close();
			}
			return null;
		}
		catch (Throwable ex) {
			return ex;
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	@Override
	public void cancel() {
		CompletableFuture<Optional<T>> receiver;
		synchronized (this.lock) {
			this.cancelled = true;
			if (this.state != State.QUEUED) {
				return;
			}
			// A queued hop may never run once the executor is shut down: take it back.
			this.state = State.CURRENT;
			receiver = this.waiting;
			this.waiting = null;
		}
		if (receiver != null) {
			receiver.complete(Optional.empty());
		}
	}

	@Override
	public boolean endsWithFailure() {
		return true;
	}

	@Override
	public CompletionStage<Void> release() {
		List<T> unwanted;
		boolean own;
		synchronized (this.lock) {
			this.cancelled = true;
			unwanted = List.copyOf(this.ready);
			this.ready.clear();
			own = this.state == State.CURRENT || this.state == State.QUEUED;
			if (own) {
				this.state = State.RUNNING;
			}
		}
		unwanted.forEach(Items::discard);
		if (own) {
			this.executor.cleanUp(() -> finish(null));
		}
		return this.closed;
	}

	private SizeHint hint() {
		return (this.iterator instanceof SizeHint.Provider provider) ? provider.sizeHint() : SizeHint.UNKNOWN;
	}

}
