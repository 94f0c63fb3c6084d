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
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Background iteration as its Rust counterpart promises it, and what it promises beyond.
 */
class BackgroundIteratorTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private static <T> T await(CompletionStage<T> stage) throws Exception {
		return EngineExtension.await(stage);
	}

	private static Throwable failure(CompletionStage<?> stage) throws Exception {
		try {
			Object value = await(stage);
			throw new AssertionError("Expected a failure, but got " + value);
		}
		catch (ExecutionException ex) {
			return ex.getCause();
		}
		catch (CancellationException ex) {
			return ex;
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 4 })
	void whenPulledThenAllItemsComeInOrderAndTheSourceIsClosedOnce(int readAhead) throws Exception {
		WatchedIterator source = new WatchedIterator(500);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(2),
				readAhead);
		for (int i = 0; i < 500; i++) {
			try (WatchedIterator.Item item = await(iterator.next()).orElseThrow()) {
				assertThat(item.index).isEqualTo(i);
			}
		}
		assertThat(await(iterator.next())).isEmpty();
		await(iterator.closed());
		assertThat(source.closed).hasValue(1);
		assertThat(source.openItems).hasValue(0);
	}

	@Test
	void whenSizeIsKnownThenTheHintIsKept() throws Exception {
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(new WatchedIterator(3),
				this.engine.background(1), 0);
		for (int left = 3; left > 0; left--) {
			assertThat(iterator.sizeHint()).isEqualTo(SizeHint.exactly(left));
			await(iterator.next()).orElseThrow().close();
		}
		assertThat(iterator.sizeHint()).isEqualTo(SizeHint.exactly(0));
		assertThat(await(iterator.next())).isEmpty();
		assertThat(iterator.sizeHint()).isEqualTo(SizeHint.exactly(0));
	}

	@Test
	void whenItemsAreReadAheadThenTheHintCountsThem() throws Exception {
		CountDownLatch reached = new CountDownLatch(1);
		CountDownLatch latch = new CountDownLatch(1);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator
			.of(new WatchedIterator(10).blockAt(4, reached, latch), this.engine.background(1), 5);
		await(iterator.next()).orElseThrow().close();
		// Items 1 to 3 are ready, item 4 is being read.
		reached.await();
		assertThat(iterator.sizeHint()).isEqualTo(SizeHint.exactly(9));
		latch.countDown();
		iterator.close();
		await(iterator.closed());
		assertThat(iterator.sizeHint()).isEqualTo(SizeHint.exactly(0));
	}

	@Test
	void whenStepIsRunningThenTheHintIsStillKnown() throws Exception {
		CountDownLatch reached = new CountDownLatch(1);
		CountDownLatch latch = new CountDownLatch(1);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator
			.of(new WatchedIterator(7).blockAt(0, reached, latch), this.engine.background(1), 0);
		CompletionStage<Optional<WatchedIterator.Item>> next = iterator.next();
		reached.await();
		assertThat(iterator.sizeHint()).isEqualTo(SizeHint.exactly(7));
		latch.countDown();
		await(next).orElseThrow().close();
		iterator.close();
		await(iterator.closed());
	}

	@Test
	void whenSizeIsUnknownThenTheHintSaysSo() throws Exception {
		BackgroundIterator<Integer> iterator = BackgroundIterator.of(List.of(1, 2).iterator(),
				this.engine.background(1));
		assertThat(iterator.sizeHint()).isEqualTo(new SizeHint(0, OptionalLong.empty()));
		assertThat(await(iterator.collect())).containsExactly(1, 2);
	}

	@Test
	void whenAskedAfterTheEndThenItIsWrongUse() throws Exception {
		BackgroundIterator<Integer> iterator = BackgroundIterator.of(List.of(1).iterator(), this.engine.background(1));
		assertThat(await(iterator.next())).contains(1);
		assertThat(await(iterator.next())).isEmpty();
		assertThat(failure(iterator.next())).isInstanceOf(IllegalStateException.class).hasMessageContaining("fuse()");
		assertThat(failure(iterator.next())).isInstanceOf(IllegalStateException.class);
	}

	@Test
	void whenFusedThenItKeepsAnsweringTheEnd() throws Exception {
		AsyncIterator<Integer> iterator = BackgroundIterator.of(List.of(1).iterator(), this.engine.background(1))
			.fuse();
		assertThat(await(iterator.next())).contains(1);
		for (int i = 0; i < 3; i++) {
			assertThat(await(iterator.next())).isEmpty();
		}
	}

	static Stream<Throwable> failures() {
		return Stream.of(new IllegalStateException("unchecked"), new IOException("checked"), new StackOverflowError(),
				new AssertionError("error"), new CancellationException("of the source"), new ExecutionException(null),
				new InterruptedException());
	}

	@ParameterizedTest
	@MethodSource("failures")
	void whenIteratorFailsThenThatVeryFailureReachesTheCaller(Throwable failure) throws Exception {
		for (int readAhead : new int[] { 0, 3 }) {
			WatchedIterator source = new WatchedIterator(10).failAt(2, failure);
			BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1),
					readAhead);
			await(iterator.next()).orElseThrow().close();
			await(iterator.next()).orElseThrow().close();
			CompletableFuture<Throwable> seen = new CompletableFuture<>();
			iterator.next().whenComplete((item, thrown) -> seen.complete(thrown));
			assertThat(await(seen)).isSameAs(failure);
			// A failure is the end as well.
			assertThat(failure(iterator.next())).isInstanceOf(IllegalStateException.class)
				.hasMessageContaining("has ended")
				.hasCause(failure);
			await(iterator.closed());
			assertThat(source.closed).hasValue(1);
		}
	}

	@Test
	void whenFusedIteratorFailsThenTheEndFollows() throws Exception {
		IOException failure = new IOException("broken");
		AsyncIterator<WatchedIterator.Item> iterator = BackgroundIterator
			.of(new WatchedIterator(10).failAt(0, failure), this.engine.background(1))
			.fuse();
		assertThat(failure(iterator.next())).isSameAs(failure);
		assertThat(await(iterator.next())).isEmpty();
		assertThat(await(iterator.next())).isEmpty();
	}

	@Test
	void whenIteratorGivesNullThenItIsAFailureAndNotAHang() throws Exception {
		List<Integer> items = new ArrayList<>();
		items.add(null);
		BackgroundIterator<Integer> iterator = BackgroundIterator.of(items.iterator(), this.engine.background(1));
		assertThat(failure(iterator.next())).isInstanceOf(NullPointerException.class)
			.hasMessage("The iterator returned null");
		await(iterator.closed());
	}

	@Test
	void whenSizeHintFailsThenTheItemIsGivenBack() throws Exception {
		IllegalStateException failure = new IllegalStateException("no hint");
		WatchedIterator source = new WatchedIterator(3) {

			@Override
			public SizeHint sizeHint() {
				if (this.given.get() == 1) {
					throw failure;
				}
				return super.sizeHint();
			}

		};
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1));
		assertThat(failure(iterator.next())).isSameAs(failure);
		assertThat(source.openItems).hasValue(0);
	}

	@Test
	void whenCloseOfSourceFailsThenTheCallerGetsToKnow() throws Exception {
		IOException failure = new IOException("close");
		WatchedIterator source = new WatchedIterator(0).failOnClose(failure);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1));
		assertThat(failure(iterator.next())).isSameAs(failure);
		assertThat(failure(iterator.closed())).isSameAs(failure);
		// The same failure while reading and while closing must not lose the outcome.
		WatchedIterator same = new WatchedIterator(1).failAt(0, failure).failOnClose(failure);
		assertThat(failure(BackgroundIterator.of(same, this.engine.background(1)).collect())).isSameAs(failure);
		IOException other = new IOException("read");
		WatchedIterator both = new WatchedIterator(1).failAt(0, other).failOnClose(failure);
		assertThat(failure(BackgroundIterator.of(both, this.engine.background(1)).collect())).isSameAs(other)
			.hasSuppressedException(failure);
		assertThat(other.getSuppressed()).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 8 })
	void whenManyStreamsShareThreadsThenNoIteratorIsOnTwoThreadsAtOnce(int threads) throws Exception {
		BackgroundExecutor executor = this.engine.background(threads);
		List<WatchedIterator> sources = IntStream.range(0, 40).mapToObj((i) -> new WatchedIterator(300)).toList();
		List<CompletableFuture<Void>> done = new ArrayList<>();
		for (int i = 0; i < sources.size(); i++) {
			done.add(BackgroundIterator.of(sources.get(i), executor, i % 4)
				.forEach(WatchedIterator.Item::close)
				.toCompletableFuture());
		}
		await(CompletableFuture.allOf(done.toArray(CompletableFuture[]::new)));
		assertThat(sources).allSatisfy((source) -> {
			assertThat(source.given).hasValue(300);
			assertThat(source.openItems).hasValue(0);
			assertThat(source.closed).hasValue(1);
		});
		assertThat(executor.openStreams()).isZero();
	}

	@Test
	void whenNothingWasAskedForThenNothingIsRead() throws Exception {
		WatchedIterator source = new WatchedIterator(10);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1), 5);
		assertThat(source.given).hasValue(0);
		await(iterator.next()).orElseThrow().close();
		Awaitility.await().untilAsserted(() -> assertThat(source.given).hasValue(6));
		iterator.close();
		await(iterator.closed());
		assertThat(source.given).hasValue(6);
		assertThat(source.openItems).hasValue(0);
		assertThat(source.closed).hasValue(1);
	}

	@Test
	void whenClosedWithReadAheadThenQueuedItemsAreClosed() throws Exception {
		CountDownLatch reached = new CountDownLatch(1);
		CountDownLatch latch = new CountDownLatch(1);
		WatchedIterator source = new WatchedIterator(10).blockAt(4, reached, latch);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1), 4);
		await(iterator.next()).orElseThrow().close();
		reached.await();
		assertThat(source.openItems).as("queued").hasValue(3);
		iterator.close();
		assertThat(source.openItems).hasValue(0);
		assertThat(iterator.closed().toCompletableFuture()).isNotDone();
		latch.countDown();
		await(iterator.closed());
		assertThat(source.openItems).hasValue(0);
		assertThat(source.closed).hasValue(1);
		assertThat(source.given).as("at most one more").hasValue(5);
	}

	@Test
	void whenEndlessSourceIsClosedThenAtMostOneMoreItemIsReadAndItIsClosedOnce() throws Exception {
		WatchedIterator source = new WatchedIterator(Integer.MAX_VALUE);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1));
		CountDownLatch enough = new CountDownLatch(1);
		CompletionStage<Void> done = iterator.forEach((item) -> {
			item.close();
			if (item.index == 1000) {
				enough.countDown();
			}
		});
		enough.await();
		iterator.close();
		int given = source.given.get();
		await(iterator.closed());
		assertThat(source.given.get()).isBetween(given, given + 1);
		assertThat(source.closed).hasValue(1);
		assertThat(source.openItems).hasValue(0);
		assertThat(failure(done)).isInstanceOf(CancellationException.class);
	}

	@Test
	void whenStreamWasNeverUsedThenClosingItClosesTheSource() throws Exception {
		BackgroundExecutor executor = this.engine.background(1);
		WatchedIterator source = new WatchedIterator(10);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, executor);
		iterator.close();
		iterator.close();
		await(iterator.closed());
		assertThat(source.closed).hasValue(1);
		assertThat(source.given).hasValue(0);
		assertThat(executor.openStreams()).isZero();
		assertThat(failure(iterator.next())).isInstanceOf(CancellationException.class);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 3 })
	void whenClosedAtAnyPointThenNothingIsLeft(int readAhead) throws Exception {
		ExecutorService pool = this.engine.pool(2);
		BackgroundExecutor executor = new BackgroundExecutor(pool, 1000);
		for (int i = 0; i < 400; i++) {
			WatchedIterator source = new WatchedIterator(1000);
			BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, executor, readAhead);
			CompletionStage<Void> done = iterator.forEach(WatchedIterator.Item::close);
			int spin = i * 20;
			while (spin > 0 && !done.toCompletableFuture().isDone()) {
				spin--;
				Thread.onSpinWait();
			}
			iterator.close();
			await(iterator.closed());
			await(done.exceptionally((failure) -> null));
			assertThat(source.closed).hasValue(1);
			assertThat(source.openItems).hasValue(0);
		}
		assertThat(executor.openStreams()).isZero();
	}

	@Test
	void whenCloseIsCalledThenTheSourceIsNotClosedOnTheCallersThread() throws Exception {
		WatchedIterator source = new WatchedIterator(10);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1), 3);
		await(iterator.next()).orElseThrow().close();
		iterator.close();
		await(iterator.closed());
		assertThat(source.closedBy).isNotSameAs(Thread.currentThread());
		WatchedIterator unused = new WatchedIterator(10);
		BackgroundIterator<WatchedIterator.Item> idle = BackgroundIterator.of(unused, this.engine.background(1));
		idle.close();
		await(idle.closed());
		assertThat(unused.closed).hasValue(1);
		assertThat(unused.closedBy).isNotSameAs(Thread.currentThread());
	}

	@Test
	void whenThreadWasInterruptedThenCleanupIsNot() throws Exception {
		CountDownLatch reached = new CountDownLatch(1);
		AtomicReference<Thread> thread = new AtomicReference<>();
		WatchedIterator source = new WatchedIterator(10).before((index) -> {
			thread.set(Thread.currentThread());
			reached.countDown();
			while (!Thread.currentThread().isInterrupted()) {
				Thread.onSpinWait();
			}
		});
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1));
		CompletionStage<Optional<WatchedIterator.Item>> next = iterator.next();
		reached.await();
		iterator.close();
		thread.get().interrupt();
		await(iterator.closed());
		assertThat(source.closedInterrupted).isFalse();
		assertThat(source.closed).hasValue(1);
		assertThat(source.openItems).hasValue(0);
		assertThat(failure(next)).isInstanceOf(CancellationException.class);
	}

	@Test
	void whenCallerGivesUpThenTheLateItemIsClosed() throws Exception {
		CountDownLatch reached = new CountDownLatch(1);
		CountDownLatch latch = new CountDownLatch(1);
		WatchedIterator source = new WatchedIterator(3).blockAt(0, reached, latch);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1), 0);
		CompletableFuture<Optional<WatchedIterator.Item>> next = iterator.next().toCompletableFuture();
		reached.await();
		next.orTimeout(1, TimeUnit.MILLISECONDS);
		assertThat(failure(next)).isInstanceOf(TimeoutException.class);
		assertThat(failure(iterator.next())).isInstanceOf(IllegalStateException.class)
			.hasMessageContaining("not complete");
		latch.countDown();
		Awaitility.await().untilAsserted(() -> {
			assertThat(source.given).hasValue(1);
			assertThat(source.openItems).hasValue(0);
		});
		Optional<WatchedIterator.Item> second = Awaitility.await()
			.until(() -> iterator.next().toCompletableFuture().exceptionally((ex) -> Optional.empty()).get(),
					Optional::isPresent);
		assertThat(second.orElseThrow().index).isEqualTo(1);
		second.orElseThrow().close();
		iterator.close();
		await(iterator.closed());
	}

	@Test
	void whenCollectIsCancelledThenSourceAndItemsAreClosed() throws Exception {
		CountDownLatch reached = new CountDownLatch(1);
		CountDownLatch latch = new CountDownLatch(1);
		WatchedIterator source = new WatchedIterator(Integer.MAX_VALUE).blockAt(5, reached, latch);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1));
		CompletableFuture<List<WatchedIterator.Item>> all = iterator.collect().toCompletableFuture();
		reached.await();
		all.cancel(true);
		latch.countDown();
		await(iterator.closed());
		Awaitility.await().untilAsserted(() -> assertThat(source.openItems).hasValue(0));
		assertThat(source.closed).hasValue(1);
	}

	@Test
	void whenActionFailsThenTheStreamIsClosed() throws Exception {
		IllegalStateException failure = new IllegalStateException("action");
		WatchedIterator source = new WatchedIterator(Integer.MAX_VALUE);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, this.engine.background(1), 4);
		CompletionStage<Void> done = iterator.forEach((item) -> {
			item.close();
			if (item.index == 10) {
				throw failure;
			}
		});
		assertThat(failure(done)).isSameAs(failure);
		assertThat(source.closed).hasValue(1);
		assertThat(source.openItems).hasValue(0);
	}

	@Test
	void whenItemsAreReadyThenTheStackDoesNotGrow() throws Exception {
		int count = 100_000;
		AtomicReference<Throwable> failure = new AtomicReference<>();
		BackgroundExecutor executor = this.engine.background(1);
		AsyncIterator<Integer> ready = AsyncIterator.from(new ReadyStep(count));
		AsyncIterator<Integer> collected = AsyncIterator.from(new ReadyStep(count));
		AsyncIterator<Integer> background = BackgroundIterator.of(IntStream.range(0, count).iterator(), executor, 16);
		AsyncIterator<Integer> published = AsyncIterator.from(new ReadyStep(count));
		Thread small = new Thread(null, () -> {
			try {
				int[] sum = new int[1];
				await(ready.forEach((item) -> sum[0]++));
				assertThat(sum[0]).isEqualTo(count);
				assertThat(await(collected.collect())).hasSize(count);
				assertThat(await(background.collect())).hasSize(count);
				CountingSubscriber subscriber = new CountingSubscriber();
				published.subscribe(subscriber);
				assertThat(await(subscriber.done)).isEqualTo(count);
			}
			catch (Throwable ex) {
				failure.set(ex);
			}
		}, "small stack", 256 * 1024);
		small.start();
		small.join(TimeUnit.SECONDS.toMillis(30));
		assertThat(small.isAlive()).isFalse();
		assertThat(failure.get()).isNull();
	}

	@Test
	void whenSourceReadsAnotherStreamOfTheSameThreadThenItIsRefusedAtOnce() throws Exception {
		BackgroundExecutor executor = this.engine.background(1);
		BackgroundIterator<Integer> inner = BackgroundIterator.of(List.of(1, 2).iterator(), executor);
		Iterator<Integer> blocking = inner.blocking();
		BackgroundIterator<Integer> outer = BackgroundIterator.of(blocking, executor);
		assertThat(failure(outer.next())).isInstanceOf(IllegalStateException.class)
			.hasMessageContaining("belongs to the engine and must not wait");
		BackgroundIterator<Integer> joining = BackgroundIterator.of(new Iterator<>() {

			@Override
			public boolean hasNext() {
				return inner.next().thenApply(Optional::isPresent).toCompletableFuture().join();
			}

			@Override
			public Integer next() {
				return 1;
			}

		}, executor);
		assertThat(failure(joining.next())).isInstanceOf(IllegalStateException.class)
			.hasMessageContaining("belongs to the engine and must not wait");
		inner.close();
		await(inner.closed());
		assertThat(executor.openStreams()).isZero();
	}

	@Test
	void whenReadAheadIsNegativeThenItIsRefused() {
		BackgroundExecutor executor = this.engine.background(1);
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> BackgroundIterator.of(List.of().iterator(), executor, -1))
			.withMessageContaining("readAhead");
		assertThat(executor.openStreams()).isZero();
	}

}
