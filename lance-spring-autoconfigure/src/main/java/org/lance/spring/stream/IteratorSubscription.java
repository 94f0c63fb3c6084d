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
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The publisher view of an iterator for its one subscriber: pulls an item whenever there
 * is demand. All signals come from one drain loop, which runs on whichever thread finds
 * it idle; so signals never overlap, and ready items don't grow the stack.
 *
 * @param <T> the type of the items
 */
final class IteratorSubscription<T> implements Flow.Subscription {

	private static final Logger logger = LoggerFactory.getLogger(IteratorSubscription.class);

	private final StepIterator<T> source;

	private final AtomicLong demand = new AtomicLong();

	private final AtomicInteger work = new AtomicInteger();

	/**
	 * Dropped at the end (rule 3.13); {@code null} means that nothing is signalled any
	 * more.
	 */
	private volatile Flow.@Nullable Subscriber<? super T> subscriber;

	private volatile @Nullable Throwable protocolError;

	private volatile @Nullable Arrival<T> arrival;

	/**
	 * Whether a pull is on its way; only touched by the drain loop.
	 */
	private boolean pulling;

	private IteratorSubscription(StepIterator<T> source, Flow.Subscriber<? super T> subscriber) {
		this.source = source;
		this.subscriber = subscriber;
	}

	static <T> void start(StepIterator<T> source, Flow.Subscriber<? super T> subscriber, boolean first) {
		if (!first) {
			refuse(subscriber);
			return;
		}
		IteratorSubscription<T> subscription = new IteratorSubscription<>(source, subscriber);
		// Demand that comes from inside onSubscribe waits until onSubscribe is over.
		subscription.work.incrementAndGet();
		try {
			subscriber.onSubscribe(subscription);
		}
		catch (Throwable ex) {
			subscription.cancel();
			throw ex;
		}
		subscription.drainLoop();
	}

	/**
	 * Refuses a second subscriber; rule 1.9 asks for a subscription first.
	 */
	private static void refuse(Flow.Subscriber<?> subscriber) {
		subscriber.onSubscribe(new RefusedSubscription());
		subscriber.onError(new IllegalStateException(
				"This iterator is already in use; it takes one subscriber, and none once it was pulled"));
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
		this.subscriber = null;
		this.source.close();
		// For an item that has arrived already.
		drain();
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
		Arrival<T> arrived = this.arrival;
		if (arrived != null) {
			this.arrival = null;
			this.pulling = false;
			signal(arrived);
		}
		Throwable error = this.protocolError;
		if (error != null) {
			fail(error);
		}
		if (this.subscriber != null && !this.pulling && this.demand.get() > 0) {
			this.pulling = true;
			this.source.nextForSubscriber().whenComplete(this::arrived);
		}
	}

	/**
	 * Leaves what was pulled to the drain loop.
	 */
	private void arrived(@Nullable Optional<T> item, @Nullable Throwable failure) {
		this.arrival = new Arrival<>(item, failure);
		drain();
	}

	private void signal(Arrival<T> arrived) {
		Flow.Subscriber<? super T> receiver = this.subscriber;
		Optional<T> item = arrived.item();
		if (receiver == null) {
			Items.discard(item);
		}
		else if (arrived.failure() != null) {
			fail(Failures.unwrap(arrived.failure()));
		}
		else if (item == null || item.isEmpty()) {
			this.subscriber = null;
			receiver.onComplete();
		}
		else {
			this.demand.getAndUpdate((before) -> (before == Long.MAX_VALUE) ? before : before - 1);
			try {
				receiver.onNext(item.get());
			}
			catch (Throwable ex) {
				// A subscriber must not throw (rule 2.13); for us it has cancelled. The
				// item was handed over, so it is the subscriber's to close.
				cancel();
				logger.error("A subscriber has thrown from onNext, so its subscription is cancelled", ex);
			}
		}
	}

	private void fail(Throwable failure) {
		Flow.Subscriber<? super T> receiver = this.subscriber;
		if (receiver != null) {
			this.subscriber = null;
			this.source.close();
			receiver.onError(failure);
		}
	}

	/**
	 * What a pull came to.
	 */
	private record Arrival<T>(@Nullable Optional<T> item, @Nullable Throwable failure) {

	}

	/**
	 * The subscription of a refused subscriber: nothing can come, the error follows at
	 * once.
	 */
	private static final class RefusedSubscription implements Flow.Subscription {

		@Override
		public void request(long count) {
			// Nothing can come.
		}

		@Override
		public void cancel() {
			// Nothing to cancel.
		}

	}

}
