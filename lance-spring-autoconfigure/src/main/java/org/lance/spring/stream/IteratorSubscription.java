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
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * The publisher view of an iterator for its one subscriber: pulls an item whenever there
 * is demand. Signals are serialised by a drain loop, so that ready items don't grow the
 * stack.
 *
 * @param <T> the type of the items
 */
final class IteratorSubscription<T> implements Flow.Subscription {

	private final StepIterator<T> source;

	private final AtomicLong demand = new AtomicLong();

	private final AtomicInteger work = new AtomicInteger();

	private final AtomicBoolean done = new AtomicBoolean();

	/**
	 * Dropped at the end (rule 3.13), hence volatile and nullable.
	 */
	private volatile Flow.@Nullable Subscriber<? super T> subscriber;

	private volatile @Nullable Throwable protocolError;

	private volatile boolean pulling;

	private IteratorSubscription(StepIterator<T> source, Flow.Subscriber<? super T> subscriber) {
		this.source = source;
		this.subscriber = subscriber;
	}

	static <T> void start(StepIterator<T> source, Flow.Subscriber<? super T> subscriber, boolean first) {
		if (!first) {
			subscriber.onSubscribe(new RefusedSubscription());
			subscriber.onError(new IllegalStateException(
					"This iterator is already in use; it takes one subscriber, and none once it was pulled"));
			return;
		}
		IteratorSubscription<T> subscription = new IteratorSubscription<>(source, subscriber);
		// Demand that comes from inside onSubscribe waits until onSubscribe is over.
		subscription.work.incrementAndGet();
		subscriber.onSubscribe(subscription);
		subscription.drainLoop();
	}

	@Override
	public void request(long count) {
		if (count <= 0) {
			this.protocolError = new IllegalArgumentException(
					"A subscriber must request 1 or more items, but requested %d (rule 3.9)".formatted(count));
		}
		else {
			this.demand.getAndAccumulate(count, (before, more) -> (before + more < 0) ? Long.MAX_VALUE : before + more);
		}
		drain();
	}

	@Override
	public void cancel() {
		if (this.done.compareAndSet(false, true)) {
			this.subscriber = null;
			this.source.close();
		}
	}

	private void drain() {
		if (this.work.getAndIncrement() == 0) {
			drainLoop();
		}
	}

	private void drainLoop() {
		int missed = this.work.get();
		do {
			turn();
			missed = this.work.addAndGet(-missed);
		}
		while (missed != 0);
	}

	private void turn() {
		if (this.done.get()) {
			return;
		}
		Throwable error = this.protocolError;
		if (error != null) {
			fail(error);
			return;
		}
		if (this.pulling || this.demand.get() == 0) {
			return;
		}
		this.pulling = true;
		CompletionStage<Optional<T>> next = this.source.nextForSubscriber();
		next.whenComplete(this::deliver);
	}

	/**
	 * Called once for each pull, so signals never overlap; {@code pulling} is given up
	 * last.
	 */
	private void deliver(@Nullable Optional<T> item, @Nullable Throwable failure) {
		Flow.Subscriber<? super T> receiver = this.subscriber;
		if (this.done.get() || receiver == null) {
			Items.discard(item);
		}
		else if (failure != null) {
			fail(Failures.unwrap(failure));
		}
		else if (item == null || item.isEmpty()) {
			if (this.done.compareAndSet(false, true)) {
				this.subscriber = null;
				receiver.onComplete();
			}
		}
		else {
			this.demand.getAndUpdate((before) -> (before == Long.MAX_VALUE) ? before : before - 1);
			try {
				receiver.onNext(item.get());
			}
			catch (Throwable ex) {
				// A subscriber must not throw (rule 2.13); to it the stream is cancelled.
				cancel();
				Thread thread = Thread.currentThread();
				thread.getUncaughtExceptionHandler().uncaughtException(thread, ex);
			}
		}
		this.pulling = false;
		drain();
	}

	private void fail(Throwable failure) {
		Flow.Subscriber<? super T> receiver = this.subscriber;
		if (receiver != null && this.done.compareAndSet(false, true)) {
			this.subscriber = null;
			this.source.close();
			receiver.onError(failure);
		}
	}

	/**
	 * What a refused subscriber is given, because rule 1.9 asks for a subscription first.
	 */
	private static final class RefusedSubscription implements Flow.Subscription {

		@Override
		public void request(long count) {
			// Nothing can come: the error follows at once.
		}

		@Override
		public void cancel() {
			// Nothing to cancel.
		}

	}

}
