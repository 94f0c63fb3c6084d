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

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Admission, full queues and the end of an executor.
 */
class BackgroundExecutorTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private static ThreadPoolExecutor bounded(int threads, int queue) {
		return new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(queue));
	}

	private ThreadPoolExecutor closing(ThreadPoolExecutor pool) {
		this.engine.closeLater(pool::shutdownNow);
		return pool;
	}

	@Test
	void whenMoreStreamsAreOpenedThanAllowedThenItIsATypedRefusal() throws Exception {
		BackgroundExecutor executor = new BackgroundExecutor(this.engine.pool(1), 2);
		BackgroundIterator<Integer> first = BackgroundIterator.of(List.of(1).iterator(), executor);
		BackgroundIterator<Integer> second = BackgroundIterator.of(List.of(2).iterator(), executor);
		WatchedIterator refused = new WatchedIterator(1);
		assertThatExceptionOfType(StreamAdmissionException.class)
			.isThrownBy(() -> BackgroundIterator.of(refused, executor))
			.withMessageContaining("All 2 slots for background streams are taken")
			.withMessageContaining("'lance.background.queue-capacity'")
			.satisfies((ex) -> assertThat(ex.getMaxStreams()).isEqualTo(2));
		assertThat(refused.closed).as("the source stays the caller's").hasValue(0);
		assertThat(EngineExtension.await(first.collect())).containsExactly(1);
		BackgroundIterator<Integer> third = BackgroundIterator.of(List.of(3).iterator(), executor);
		assertThat(EngineExtension.await(second.collect())).containsExactly(2);
		assertThat(EngineExtension.await(third.collect())).containsExactly(3);
		assertThat(executor.openStreams()).isZero();
	}

	@Test
	void whenAllAreAdmittedThenNoneIsEverRejected() throws Exception {
		BackgroundExecutor executor = new BackgroundExecutor(closing(bounded(2, 100)), 102);
		List<WatchedIterator> sources = new ArrayList<>();
		List<CompletableFuture<Void>> done = new ArrayList<>();
		AtomicInteger refused = new AtomicInteger();
		while (sources.size() < 400) {
			WatchedIterator source = new WatchedIterator(100);
			try {
				BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, executor, 1);
				sources.add(source);
				done.add(iterator.forEach(WatchedIterator.Item::close).toCompletableFuture());
			}
			catch (StreamAdmissionException ex) {
				refused.incrementAndGet();
				// Somebody has to end first.
				EngineExtension.await(done.get(Math.max(0, sources.size() - 102)));
			}
		}
		EngineExtension.await(CompletableFuture.allOf(done.toArray(CompletableFuture[]::new)));
		assertThat(sources).allSatisfy((source) -> {
			assertThat(source.given).hasValue(100);
			assertThat(source.closed).hasValue(1);
			assertThat(source.openItems).hasValue(0);
		});
	}

	@Test
	void whenForeignTasksFillTheQueueThenAdmittedStreamsWaitAndFinish() throws Exception {
		ThreadPoolExecutor pool = closing(bounded(1, 1));
		BackgroundExecutor executor = new BackgroundExecutor(pool, 20);
		CountDownLatch latch = new CountDownLatch(1);
		CountDownLatch running = new CountDownLatch(1);
		pool.execute(() -> {
			running.countDown();
			try {
				latch.await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		});
		running.await();
		pool.execute(() -> {
		});
		List<CompletableFuture<Void>> done = new ArrayList<>();
		List<WatchedIterator> sources = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			sources.add(new WatchedIterator(10));
			done.add(BackgroundIterator.of(sources.get(i), executor)
				.forEach(WatchedIterator.Item::close)
				.toCompletableFuture());
		}
		// Closing one meanwhile is no different: its cleanup waits for the executor.
		WatchedIterator closed = sources.get(7);
		assertThat(done).noneMatch(CompletableFuture::isDone);
		latch.countDown();
		EngineExtension.await(CompletableFuture.allOf(done.toArray(CompletableFuture[]::new)));
		assertThat(closed.closed).hasValue(1);
		assertThat(executor.openStreams()).isZero();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whenExecutorIsShutDownThenEveryCallerGetsAnAnswerAndEverySourceIsClosed(boolean now) throws Exception {
		ThreadPoolExecutor pool = closing(bounded(1, 100));
		BackgroundExecutor executor = new BackgroundExecutor(pool, 100);
		CountDownLatch reached = new CountDownLatch(1);
		CountDownLatch latch = new CountDownLatch(1);
		WatchedIterator running = new WatchedIterator(5).blockAt(0, reached, latch);
		CompletionStage<Optional<WatchedIterator.Item>> first = BackgroundIterator.of(running, executor).next();
		reached.await();
		List<WatchedIterator> sources = new ArrayList<>();
		List<CompletionStage<Optional<WatchedIterator.Item>>> queued = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			sources.add(new WatchedIterator(5));
			queued.add(BackgroundIterator.of(sources.get(i), executor).next());
		}
		WatchedIterator unused = new WatchedIterator(5);
		BackgroundIterator<WatchedIterator.Item> never = BackgroundIterator.of(unused, executor);
		WatchedIterator cleaned = new WatchedIterator(5);
		BackgroundIterator<WatchedIterator.Item> cleaning = BackgroundIterator.of(cleaned, executor);
		cleaning.close();
		if (now) {
			pool.shutdownNow();
		}
		else {
			pool.shutdown();
		}
		latch.countDown();
		int answers = 0;
		for (CompletionStage<Optional<WatchedIterator.Item>> stage : queued) {
			try {
				EngineExtension.await(stage).orElseThrow().close();
			}
			catch (ExecutionException ex) {
				assertThat(ex.getCause()).isInstanceOf(StreamAdmissionException.class)
					.hasMessageContaining("was shut down before this stream came to its end");
				answers++;
			}
		}
		assertThat(answers).isGreaterThanOrEqualTo(now ? 20 : 0);
		first.handle((item, failure) -> {
			Items.discard(item);
			return null;
		});
		EngineExtension.await(cleaning.closed());
		assertThat(cleaned.closed).hasValue(1);
		never.close();
		EngineExtension.await(never.closed());
		assertThat(unused.closed).hasValue(1);
		// For those that nobody asks for more.
		executor.close();
		Awaitility.await().untilAsserted(() -> {
			assertThat(running.closed).hasValue(1);
			assertThat(running.openItems).hasValue(0);
			assertThat(sources).allSatisfy((source) -> {
				assertThat(source.closed).hasValue(1);
				assertThat(source.openItems).hasValue(0);
			});
			assertThat(executor.openStreams()).isZero();
		});
		assertThatExceptionOfType(StreamAdmissionException.class)
			.isThrownBy(() -> BackgroundIterator.of(List.of().iterator(), executor))
			.withMessageContaining("shut down");
	}

	@Test
	void whenExecutorIsShutDownInTheMiddleOfRunningStreamsThenNoneIsLost() throws Exception {
		for (int round = 0; round < 30; round++) {
			ThreadPoolExecutor pool = closing(bounded(2, 100));
			BackgroundExecutor executor = new BackgroundExecutor(pool, 102);
			List<WatchedIterator> sources = new ArrayList<>();
			List<CompletableFuture<Void>> done = new ArrayList<>();
			for (int i = 0; i < 30; i++) {
				sources.add(new WatchedIterator(Integer.MAX_VALUE));
				done.add(BackgroundIterator.of(sources.get(i), executor, i % 3)
					.forEach(WatchedIterator.Item::close)
					.toCompletableFuture());
			}
			Awaitility.await().until(() -> sources.stream().allMatch((source) -> source.given.get() > 0));
			if (round % 2 == 0) {
				pool.shutdownNow();
			}
			else {
				pool.shutdown();
			}
			for (CompletableFuture<Void> stage : done) {
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(stage))
					.withCauseInstanceOf(StreamAdmissionException.class);
			}
			assertThat(sources).allSatisfy((source) -> {
				assertThat(source.closed).hasValue(1);
				assertThat(source.openItems).hasValue(0);
			});
			assertThat(executor.openStreams()).isZero();
		}
	}

	@Test
	void whenClosedThenOpenStreamsAreClosedAndNewOnesRefused() throws Exception {
		ExecutorService pool = this.engine.pool(1);
		BackgroundExecutor executor = new BackgroundExecutor(pool, 10);
		CountDownLatch reached = new CountDownLatch(1);
		CountDownLatch latch = new CountDownLatch(1);
		WatchedIterator source = new WatchedIterator(5).blockAt(0, reached, latch);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, executor);
		CompletionStage<Optional<WatchedIterator.Item>> next = iterator.next();
		reached.await();
		executor.close();
		executor.close();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> EngineExtension.await(next));
		latch.countDown();
		EngineExtension.await(iterator.closed());
		assertThat(source.closed).hasValue(1);
		assertThat(source.openItems).hasValue(0);
		assertThatExceptionOfType(StreamAdmissionException.class)
			.isThrownBy(() -> BackgroundIterator.of(List.of().iterator(), executor))
			.withMessageContaining("shut down");
		assertThat(executor.openStreams()).isZero();
	}

	@Test
	void whenClosedAfterItsExecutorThenWhatIsLeftIsCleanedUpOnThisThread() throws Exception {
		ThreadPoolExecutor pool = closing(bounded(1, 10));
		BackgroundExecutor executor = new BackgroundExecutor(pool, 10);
		CountDownLatch reached = new CountDownLatch(1);
		CountDownLatch latch = new CountDownLatch(1);
		WatchedIterator running = new WatchedIterator(1).blockAt(0, reached, latch);
		BackgroundIterator<WatchedIterator.Item> blocked = BackgroundIterator.of(running, executor);
		blocked.next();
		reached.await();
		WatchedIterator queued = new WatchedIterator(1);
		CompletionStage<Optional<WatchedIterator.Item>> next = BackgroundIterator.of(queued, executor).next();
		pool.shutdownNow();
		executor.close();
		assertThat(queued.closed).hasValue(1);
		assertThat(next.toCompletableFuture()).isDone();
		latch.countDown();
		Awaitility.await().untilAsserted(() -> assertThat(running.closed).hasValue(1));
	}

	@Test
	void whenExecutorForgotACleanupThenClosingDoesIt() throws Exception {
		AtomicBoolean shutdown = new AtomicBoolean();
		BackgroundExecutor executor = new BackgroundExecutor((task) -> {
		}, 10, shutdown::get);
		WatchedIterator source = new WatchedIterator(1);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, executor);
		iterator.close();
		assertThat(source.closed).hasValue(0);
		shutdown.set(true);
		executor.close();
		assertThat(source.closed).hasValue(1);
		EngineExtension.await(iterator.closed());
	}

	@Test
	void whenAskedAfterShutdownThenTheAnswerComesAtOnce() throws Exception {
		ThreadPoolExecutor pool = closing(bounded(1, 10));
		BackgroundExecutor executor = new BackgroundExecutor(pool, 10);
		WatchedIterator source = new WatchedIterator(1);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, executor);
		pool.shutdown();
		CompletableFuture<Optional<WatchedIterator.Item>> next = iterator.next().toCompletableFuture();
		assertThat(next).isCompletedExceptionally();
		assertThat(source.closed).hasValue(1);
		EngineExtension.await(iterator.closed());
	}

	@Test
	void whenExecutorCannotMakeAThreadThenTheStepIsOfferedAgain() throws Exception {
		ExecutorService pool = this.engine.pool(1);
		AtomicInteger refusals = new AtomicInteger(3);
		BackgroundExecutor executor = new BackgroundExecutor((task) -> {
			if (refusals.getAndDecrement() > 0) {
				throw new OutOfMemoryError("unable to create native thread");
			}
			pool.execute(task);
		}, 10, pool::isShutdown);
		assertThat(EngineExtension.await(BackgroundIterator.of(List.of(1, 2).iterator(), executor).collect()))
			.containsExactly(1, 2);
		assertThat(executor.openStreams()).isZero();
	}

	/**
	 * Such as an executor with a task decorator that fails.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void whenExecutorFailsToTakeAStepThenTheStreamFailsTypedAndItsSourceIsClosed(int stepsBefore) throws Exception {
		ExecutorService pool = this.engine.pool(1);
		AtomicInteger steps = new AtomicInteger(stepsBefore);
		IllegalStateException failure = new IllegalStateException("no context to be had");
		BackgroundExecutor executor = new BackgroundExecutor((task) -> {
			if (steps.getAndDecrement() <= 0) {
				throw failure;
			}
			pool.execute(task);
		}, 10, pool::isShutdown);
		WatchedIterator source = new WatchedIterator(1000).before((index) -> {
			long start = System.nanoTime();
			// Longer than a hop may take, so that each item needs another one.
			while (System.nanoTime() - start < 3_000_000) {
				Thread.onSpinWait();
			}
		});
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, executor, 1);
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> EngineExtension.await(iterator.forEach(WatchedIterator.Item::close)))
			.withCauseInstanceOf(StreamAdmissionException.class)
			.havingCause()
			.withMessageContaining("no context to be had")
			.withMessageContaining("task decorator")
			.withCause(failure);
		EngineExtension.await(iterator.closed());
		assertThat(source.closed).hasValue(1);
		assertThat(source.openItems).hasValue(0);
		assertThat(executor.openStreams()).isZero();
	}

	@Test
	void whenExecutorFailsToTakeACleanupThenItIsDoneAllTheSame() throws Exception {
		IllegalStateException failure = new IllegalStateException("no context to be had");
		BackgroundExecutor executor = new BackgroundExecutor((task) -> {
			throw failure;
		}, 10, () -> false);
		WatchedIterator source = new WatchedIterator(3);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, executor);
		iterator.close();
		EngineExtension.await(iterator.closed());
		assertThat(source.closed).hasValue(1);
		assertThat(executor.openStreams()).isZero();
	}

	/**
	 * The timer of the JVM offers it again, and a source may take its time to close.
	 */
	@Test
	void whenAStepThatWaitedIsNotTakenThenTheSourceIsClosedOnAThreadOfItsOwn() throws Exception {
		AtomicInteger offers = new AtomicInteger();
		BackgroundExecutor executor = new BackgroundExecutor((task) -> {
			if (offers.getAndIncrement() == 0) {
				throw new RejectedExecutionException("full");
			}
			throw new IllegalStateException("no context to be had");
		}, 10, () -> false);
		WatchedIterator source = new WatchedIterator(3);
		BackgroundIterator<WatchedIterator.Item> iterator = BackgroundIterator.of(source, executor);
		CompletionStage<Optional<WatchedIterator.Item>> next = iterator.next();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(next))
			.withCauseInstanceOf(StreamAdmissionException.class);
		EngineExtension.await(iterator.closed());
		assertThat(source.closedBy.getName()).isEqualTo("lance-refusal");
		assertThat(executor.openStreams()).isZero();
	}

	@Test
	void whenSlotsAreFewerThanOneThenItIsRefused() {
		ExecutorService pool = this.engine.pool(1);
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> new BackgroundExecutor(pool, 0))
			.withMessageContaining("maxStreams");
	}

}
