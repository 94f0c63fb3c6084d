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

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.lance.spring.testing.EngineExtension;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/**
 * The publisher view, beyond the rules of Reactive Streams.
 */
class PublisherTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@Test
	void whenSubscriberCancelsThenQueuedItemsAreClosed() throws Exception {
		CountDownLatch reached = new CountDownLatch(1);
		CountDownLatch latch = new CountDownLatch(1);
		WatchedIterator source = new WatchedIterator(10).blockAt(4, reached, latch);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1), 4);
		Recorder<WatchedIterator.Item> recorder = new Recorder<>();
		iterator.subscribe(recorder);
		recorder.subscription.request(1);
		reached.await();
		assertThat(source.openItems).hasValue(4);
		recorder.subscription.cancel();
		recorder.subscription.cancel();
		latch.countDown();
		EngineExtension.await(iterator.closed());
		assertThat(recorder.items).hasSize(1);
		recorder.items.get(0).close();
		assertThat(source.openItems).hasValue(0);
		assertThat(source.closed).hasValue(1);
		assertThat(recorder.end).isNotDone();
	}

	@Test
	void whenCancelledWithinOnNextThenNothingMoreComes() throws Exception {
		WatchedIterator source = new WatchedIterator(1000);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1), 4);
		Recorder<WatchedIterator.Item> recorder = new Recorder<>() {

			@Override
			public void onNext(WatchedIterator.Item item) {
				item.close();
				super.onNext(item);
				if (item.index == 9) {
					this.subscription.cancel();
				}
			}

		};
		iterator.subscribe(recorder);
		recorder.subscription.request(Long.MAX_VALUE);
		EngineExtension.await(iterator.closed());
		assertThat(recorder.items).hasSize(10);
		assertThat(source.openItems).hasValue(0);
	}

	@Test
	void whenRequestIsWrongDuringASignalThenSignalsDoNotOverlap() throws Exception {
		CountDownLatch inside = new CountDownLatch(1);
		CountDownLatch latch = new CountDownLatch(1);
		AtomicBoolean signalling = new AtomicBoolean();
		AtomicBoolean overlapped = new AtomicBoolean();
		Recorder<Integer> recorder = new Recorder<>() {

			@Override
			public void onNext(Integer item) {
				signalling.set(true);
				inside.countDown();
				try {
					latch.await();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
				super.onNext(item);
				signalling.set(false);
			}

			@Override
			public void onError(Throwable failure) {
				overlapped.set(signalling.get());
				super.onError(failure);
			}

		};
		CompletableFuture<Optional<Integer>> item = new CompletableFuture<>();
		AsyncIterator.from(new PendingStep(item)).subscribe(recorder);
		recorder.subscription.request(3);
		// Arrives on another thread, which then is inside of onNext.
		this.engine.pool(1).execute(() -> item.complete(Optional.of(1)));
		inside.await();
		recorder.subscription.request(-1);
		latch.countDown();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(recorder.end))
			.withCauseInstanceOf(IllegalArgumentException.class)
			.withMessageContaining("rule 3.9");
		assertThat(overlapped).isFalse();
		assertThat(recorder.items).containsExactly(1);
	}

	@Test
	void whenThereIsAnotherUserThenASubscriberIsRefused() throws Exception {
		AsyncIterator<Integer> published = AsyncIterator.from(new ReadyStep(2));
		Recorder<Integer> first = new Recorder<>();
		published.subscribe(first);
		Recorder<Integer> second = new Recorder<>();
		published.subscribe(second);
		assertThat(second.end).isCompletedExceptionally();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(published.next()))
			.withCauseInstanceOf(IllegalStateException.class)
			.withMessageContaining("has a subscriber");
		first.subscription.request(5);
		EngineExtension.await(first.end);
		assertThat(first.items).containsExactly(0, 1);
		AsyncIterator<Integer> pulled = AsyncIterator.from(new ReadyStep(2));
		assertThat(EngineExtension.await(pulled.next())).contains(0);
		Recorder<Integer> third = new Recorder<>();
		pulled.subscribe(third);
		assertThat(third.end).isCompletedExceptionally();
		assertThat(EngineExtension.await(pulled.next())).contains(1);
		assertThatNullPointerException().isThrownBy(() -> pulled.subscribe(null));
	}

	@Test
	void whenSubscriberThrowsThenTheSourceIsClosed() throws Exception {
		WatchedIterator source = new WatchedIterator(10);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1), 2);
		iterator.subscribe(new Recorder<>() {

			@Override
			public void onSubscribe(Flow.Subscription subscription) {
				subscription.request(5);
			}

			@Override
			public void onNext(WatchedIterator.Item item) {
				item.close();
				throw new IllegalStateException("thrown by a subscriber, on purpose");
			}

		});
		EngineExtension.await(iterator.closed());
		assertThat(source.openItems).hasValue(0);
		WatchedIterator unused = new WatchedIterator(10);
		BackgroundIterator<WatchedIterator.Item> refusing = BackgroundIterator.of(unused, this.engine.background(1));
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> refusing.subscribe(new Recorder<>() {

			@Override
			public void onSubscribe(Flow.Subscription subscription) {
				throw new IllegalStateException("no subscription");
			}

		}));
		EngineExtension.await(refusing.closed());
		assertThat(unused.closed).hasValue(1);
	}

	@Test
	void whenSourceFailsThenTheSubscriberGetsThatFailure() throws Exception {
		IOException failure = new IOException("broken");
		WatchedIterator source = new WatchedIterator(10).failAt(2, failure);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1));
		Recorder<WatchedIterator.Item> recorder = new Recorder<>();
		iterator.subscribe(recorder);
		recorder.subscription.request(10);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(recorder.end))
			.withCause(failure);
		assertThat(recorder.items).hasSize(2).allSatisfy(WatchedIterator.Item::close);
		EngineExtension.await(iterator.closed());
		assertThat(source.closed).hasValue(1);
	}

	@Test
	void whenIteratorIsClosedByAnotherThenTheSubscriberIsTold() {
		AsyncIterator<Integer> iterator = AsyncIterator.from(new PendingStep(new CompletableFuture<>()));
		Recorder<Integer> recorder = new Recorder<>();
		iterator.subscribe(recorder);
		recorder.subscription.request(1);
		iterator.close();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> EngineExtension.await(recorder.end));
	}

	@Test
	void whenReactorSubscribesThenDemandAndDiscardWork() throws Exception {
		WatchedIterator source = new WatchedIterator(100);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1), 2);
		AtomicInteger fetched = new AtomicInteger();
		AtomicInteger discarded = new AtomicInteger();
		StepVerifier.create(JdkFlowAdapter.flowPublisherToFlux(iterator)
			.doOnNext((item) -> fetched.incrementAndGet())
			.publishOn(Schedulers.parallel(), 4)
			.doOnDiscard(WatchedIterator.Item.class, (item) -> {
				discarded.incrementAndGet();
				item.close();
			}), 0)
			.thenRequest(3)
			.consumeNextWith(WatchedIterator.Item::close)
			.consumeNextWith(WatchedIterator.Item::close)
			.consumeNextWith((item) -> {
				item.close();
				// One waits in Reactor when the subscription is cancelled.
				org.awaitility.Awaitility.await().until(() -> fetched.get() > 3);
			})
			.thenCancel()
			.verify(Duration.ofSeconds(5));
		EngineExtension.await(iterator.closed());
		org.awaitility.Awaitility.await().untilAsserted(() -> assertThat(discarded.get()).isPositive());
		assertThat(source.given.get()).isLessThan(20);
		org.awaitility.Awaitility.await().untilAsserted(() -> assertThat(source.openItems).hasValue(0));
	}

	/**
	 * A step that ends when the test says so.
	 */
	private record PendingStep(CompletableFuture<Optional<Integer>> item) implements AsyncStep<Integer> {

		@Override
		public CompletableFuture<Optional<Integer>> advance() {
			return this.item;
		}

		@Override
		public CompletableFuture<Void> release() {
			return CompletableFuture.completedFuture(null);
		}

	}

	/**
	 * Remembers all signals.
	 */
	private static class Recorder<T> implements Flow.Subscriber<T> {

		final List<T> items = new ArrayList<>();

		final CompletableFuture<Void> end = new CompletableFuture<>();

		volatile Flow.Subscription subscription;

		@Override
		public void onSubscribe(Flow.Subscription subscription) {
			this.subscription = subscription;
		}

		@Override
		public void onNext(T item) {
			this.items.add(item);
		}

		@Override
		public void onError(Throwable failure) {
			this.end.completeExceptionally(failure);
		}

		@Override
		public void onComplete() {
			this.end.complete(null);
		}

	}

}
