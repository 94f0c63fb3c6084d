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
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What all asynchronous iterators share, around a step that the test controls.
 */
class AsyncIteratorTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private static void assertFails(CompletionStage<?> stage, Throwable failure) {
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(stage))
			.withCause(failure);
	}

	@Test
	void whenAskedWhileAskingThenItIsWrongUse() throws Exception {
		ManualStep step = new ManualStep();
		AsyncIterator<Closed> iterator = AsyncIterator.from(step);
		CompletionStage<Optional<Closed>> first = iterator.next();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(iterator.next()))
			.withCauseInstanceOf(IllegalStateException.class)
			.withMessageContaining("one call at a time");
		Closed item = new Closed();
		step.pending.complete(Optional.of(item));
		assertThat(EngineExtension.await(first)).contains(item);
		assertThat(step.advances).hasValue(1);
		iterator.close();
		assertThat(step.releases).hasValue(1);
	}

	@Test
	void whenClosedDuringAStepThenTheStepEndsBeforeItIsReleased() {
		ManualStep step = new ManualStep();
		AsyncIterator<Closed> iterator = AsyncIterator.from(step);
		CompletionStage<Optional<Closed>> next = iterator.next();
		iterator.close();
		iterator.close();
		assertThat(step.cancels).hasValue(1);
		assertThat(step.releases).hasValue(0);
		assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> EngineExtension.await(next));
		assertThat(iterator.closed().toCompletableFuture()).isNotDone();
		Closed late = new Closed();
		step.pending.complete(Optional.of(late));
		assertThat(late.count).hasValue(1);
		assertThat(step.releases).hasValue(1);
		assertThat(iterator.closed().toCompletableFuture()).isCompleted();
		assertThat(iterator.sizeHint()).isEqualTo(SizeHint.exactly(0));
	}

	/**
	 * The step does not know of the call yet, so telling it at once would be in vain.
	 */
	@Test
	void whenClosedJustBeforeAStepThenTheStepIsCancelledOnceItKnowsOfTheCall() throws Exception {
		AtomicReference<AsyncIterator<Closed>> closing = new AtomicReference<>();
		ManualStep step = new ManualStep() {

			@Override
			public CompletionStage<Optional<Closed>> advance() {
				closing.get().close();
				return super.advance();
			}

			@Override
			public void cancel() {
				super.cancel();
				this.pending.complete(Optional.empty());
			}

		};
		closing.set(AsyncIterator.from(step));
		CompletionStage<Optional<Closed>> next = closing.get().next();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> EngineExtension.await(next));
		assertThat(step.cancels).hasValue(1);
		assertThat(step.releases).hasValue(1);
		assertThat(closing.get().closed().toCompletableFuture()).isCompleted();
	}

	@Test
	void whenClosedJustBeforeAStepThatFailsThenItIsReleasedAllTheSame() {
		AtomicReference<AsyncIterator<Closed>> closing = new AtomicReference<>();
		ManualStep step = new ManualStep() {

			@Override
			public CompletionStage<Optional<Closed>> advance() {
				closing.get().close();
				throw new IllegalStateException("thrown");
			}

		};
		closing.set(AsyncIterator.from(step));
		CompletionStage<Optional<Closed>> next = closing.get().next();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> EngineExtension.await(next));
		assertThat(step.cancels).hasValue(0);
		assertThat(step.releases).hasValue(1);
	}

	@Test
	void whenAFailureIsTheEndThenTheStepIsReleasedWithoutBeingClosed() {
		ManualStep step = new ManualStep() {

			@Override
			public boolean endsWithFailure() {
				return true;
			}

		};
		IllegalStateException failure = new IllegalStateException("broken");
		AsyncIterator<Closed> iterator = AsyncIterator.from(step);
		CompletionStage<Optional<Closed>> next = iterator.next();
		step.pending.completeExceptionally(failure);
		assertFails(next, failure);
		assertThat(step.releases).hasValue(1);
		assertThat(iterator.closed().toCompletableFuture()).isCompleted();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(iterator.next()))
			.withCauseInstanceOf(IllegalStateException.class)
			.withMessageContaining("has ended");
		iterator.close();
		assertThat(step.releases).hasValue(1);
	}

	@Test
	void whenStepMisbehavesThenTheCallerGetsAnAnswerAndTheStepIsReleased() throws Exception {
		IllegalStateException failure = new IllegalStateException("thrown");
		ManualStep throwing = new ManualStep() {

			@Override
			public CompletionStage<Optional<Closed>> advance() {
				throw failure;
			}

		};
		AsyncIterator<Closed> iterator = AsyncIterator.from(throwing);
		assertFails(iterator.next(), failure);
		// Not the end: a step may work again.
		assertFails(iterator.next(), failure);
		iterator.close();
		assertThat(throwing.releases).hasValue(1);
		ManualStep nothing = new ManualStep() {

			@Override
			public CompletionStage<Optional<Closed>> advance() {
				return null;
			}

		};
		AsyncIterator<Closed> second = AsyncIterator.from(nothing);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(second.next()))
			.withCauseInstanceOf(NullPointerException.class);
		second.close();
		assertThat(nothing.releases).hasValue(1);
		ManualStep empty = new ManualStep();
		AsyncIterator<Closed> third = AsyncIterator.from(empty);
		CompletionStage<Optional<Closed>> next = third.next();
		empty.pending.complete(null);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(next))
			.withMessageContaining("answered null");
		third.close();
	}

	@Test
	void whenCancelOrReleaseFailThenTheCallerGetsAnAnswer() throws Exception {
		IllegalStateException failure = new IllegalStateException("thrown");
		ManualStep step = new ManualStep() {

			@Override
			public void cancel() {
				throw failure;
			}

			@Override
			public CompletionStage<Void> release() {
				throw failure;
			}

		};
		AsyncIterator<Closed> iterator = AsyncIterator.from(step);
		CompletionStage<Optional<Closed>> next = iterator.next();
		assertThatIllegalStateException().isThrownBy(iterator::close).isSameAs(failure);
		assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> EngineExtension.await(next));
		step.pending.complete(Optional.empty());
		assertFails(iterator.closed(), failure);
		ManualStep failing = new ManualStep() {

			@Override
			public CompletionStage<Void> release() {
				return CompletableFuture.failedFuture(failure);
			}

		};
		AsyncIterator<Closed> second = AsyncIterator.from(failing);
		CompletionStage<List<Closed>> all = second.collect();
		Closed item = new Closed();
		failing.pending.complete(Optional.of(item));
		failing.pending.complete(Optional.empty());
		assertFails(all, failure);
		assertThat(item.count).hasValue(1);
	}

	@Test
	void whenItWasReadToItsEndThenItIsReleasedWithoutBeingClosed() throws Exception {
		ReadyStep step = new ReadyStep(1);
		AsyncIterator<Integer> iterator = AsyncIterator.from(step);
		assertThat(EngineExtension.await(iterator.next())).contains(0);
		assertThat(step.released).isZero();
		assertThat(EngineExtension.await(iterator.next())).isEmpty();
		EngineExtension.await(iterator.closed());
		iterator.close();
		assertThat(step.released).isEqualTo(1);
	}

	@Test
	void whenSomebodyCompletesTheClosedStageThenOthersAreNotFooled() {
		AsyncIterator<Integer> iterator = AsyncIterator.from(new ReadyStep(1));
		iterator.closed().toCompletableFuture().complete(null);
		assertThat(iterator.closed().toCompletableFuture()).isNotDone();
		iterator.close();
		assertThat(iterator.closed().toCompletableFuture()).isDone();
	}

	@Test
	void whenWaitedForOnAThreadOfTheEngineThenItIsRefused() throws Exception {
		ManualStep step = new ManualStep();
		AsyncIterator<Closed> iterator = AsyncIterator.from(step);
		CompletableFuture<Optional<Closed>> next = iterator.next().toCompletableFuture();
		CompletableFuture<Boolean> derived = iterator.closed().thenApply((done) -> true).toCompletableFuture();
		EngineThreads.run(() -> {
			for (CompletableFuture<?> future : List.of(next, derived, iterator.closed().toCompletableFuture())) {
				assertThatIllegalStateException().isThrownBy(future::join)
					.withMessageContaining("belongs to the engine");
				assertThatIllegalStateException().isThrownBy(future::get);
				assertThatIllegalStateException().isThrownBy(() -> future.get(1, TimeUnit.SECONDS));
			}
			assertThatIllegalStateException().isThrownBy(() -> iterator.blocking().hasNext());
			assertThat(EngineThreads.isCurrent()).isTrue();
		});
		assertThat(EngineThreads.isCurrent()).isFalse();
		iterator.close();
		step.pending.complete(Optional.empty());
		EngineThreads.run(() -> {
			// What is done need not be waited for.
			assertThat(iterator.closed().toCompletableFuture().join()).isNull();
			assertThat(derived.join()).isTrue();
		});
	}

	@Test
	void whenStagesCompleteAnywhereThenNoTurnIsLost() throws Exception {
		ExecutorService pool = this.engine.pool(2);
		for (int round = 0; round < 20; round++) {
			AtomicInteger turns = new AtomicInteger();
			CompletionStage<Void> done = AsyncLoop.repeat(() -> {
				int turn = turns.incrementAndGet();
				CompletableFuture<Boolean> stage = new CompletableFuture<>();
				if (turn % 3 == 0) {
					stage.complete(true);
				}
				else {
					pool.execute(() -> stage.complete(turn < 5000));
				}
				return stage;
			});
			EngineExtension.await(done);
			assertThat(turns.get()).isEqualTo(5000);
		}
	}

	@Test
	void whenTurnFailsThenTheLoopEnds() {
		IllegalStateException failure = new IllegalStateException("turn");
		assertFails(AsyncLoop.repeat(() -> {
			throw failure;
		}), failure);
		assertFails(AsyncLoop.repeat(() -> CompletableFuture.failedFuture(failure)), failure);
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> EngineExtension.await(AsyncLoop.repeat(() -> null)))
			.withCauseInstanceOf(NullPointerException.class);
	}

	@Test
	void whenDrainedThenTheNextItemWaitsForTheActionOfTheLast() throws Exception {
		List<CompletableFuture<Void>> actions = new ArrayList<>();
		AsyncIterator<Integer> iterator = AsyncIterator.from(new ReadyStep(3));
		CompletionStage<Void> done = AsyncLoop.drain(iterator, (item) -> {
			CompletableFuture<Void> action = new CompletableFuture<>();
			actions.add(action);
			return action;
		});
		for (int i = 0; i < 3; i++) {
			assertThat(actions).hasSize(i + 1);
			actions.get(i).complete(null);
		}
		EngineExtension.await(done);
		EngineExtension.await(iterator.closed());
	}

	@Test
	void whenReadBlockingThenItIsAnOrdinaryIterator() {
		Iterator<Integer> iterator = AsyncIterator.from(new ReadyStep(3)).blocking();
		List<Integer> items = new ArrayList<>();
		iterator.forEachRemaining(items::add);
		assertThat(items).containsExactly(0, 1, 2);
		assertThat(iterator.hasNext()).isFalse();
		assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(iterator::next);
	}

	@Test
	void whenReadBlockingThenFailuresAreThrownAsTheyAre() {
		for (Throwable failure : List.of(new IllegalStateException("u"), new StackOverflowError())) {
			Iterator<WatchedIterator.Item> blocking = BackgroundIterator
				.of(new WatchedIterator(1).failAt(0, failure), this.engine.background(1))
				.blocking();
			assertThatExceptionOfType(Throwable.class).isThrownBy(blocking::hasNext).isSameAs(failure);
		}
		IOException checked = new IOException("c");
		Iterator<WatchedIterator.Item> blocking = BackgroundIterator
			.of(new WatchedIterator(1).failAt(0, checked), this.engine.background(1))
			.blocking();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(blocking::next).withCause(checked);
	}

	@Test
	void whenReaderIsInterruptedThenItWaitsNoLongerAndTheLateItemIsClosed() throws Exception {
		ManualStep step = new ManualStep();
		AsyncIterator<Closed> iterator = AsyncIterator.from(step);
		AtomicReference<Throwable> seen = new AtomicReference<>();
		CountDownLatch started = new CountDownLatch(1);
		Thread reader = new Thread(() -> {
			started.countDown();
			try {
				iterator.blocking().hasNext();
			}
			catch (Throwable ex) {
				seen.set(ex);
			}
			if (!Thread.currentThread().isInterrupted()) {
				seen.set(new AssertionError("no longer interrupted"));
			}
		});
		reader.start();
		started.await();
		reader.interrupt();
		reader.join(5000);
		assertThat(seen.get()).isInstanceOf(CancellationException.class);
		Closed late = new Closed();
		step.pending.complete(Optional.of(late));
		assertThat(late.count).hasValue(1);
		iterator.close();
	}

	@Test
	void whenClosedBetweenHasNextAndNextThenTheItemIsClosed() {
		ManualStep step = new ManualStep();
		AsyncIterator<Closed> iterator = AsyncIterator.from(step);
		Iterator<Closed> blocking = iterator.blocking();
		Closed item = new Closed();
		step.next = CompletableFuture.completedFuture(Optional.of(item));
		assertThat(blocking.hasNext()).isTrue();
		iterator.close();
		assertThat(item.count).hasValue(1);
		assertThatExceptionOfType(CancellationException.class).isThrownBy(blocking::next);
	}

	@Test
	void whenClosedWhileAnItemIsOnItsWayToABlockedReaderThenTheItemIsClosed() {
		AsyncIterator<Closed> iterator = AsyncIterator.from(new ManualStep());
		Closed item = new Closed();
		Iterator<Closed> blocking = new BlockingIterator<>(new Delegate<>(iterator) {

			@Override
			public CompletionStage<Optional<Closed>> next() {
				return new CompletableFuture<>() {

					@Override
					public Optional<Closed> get() {
						// As late as possible: the reader has the item, and nobody knows.
						iterator.close();
						return Optional.of(item);
					}

				};
			}

		});
		assertThat(iterator.closed().toCompletableFuture()).isNotDone();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(blocking::hasNext);
		assertThat(iterator.closed().toCompletableFuture()).isCompleted();
		assertThat(item.count).hasValue(1);
		assertThatExceptionOfType(CancellationException.class)
			.isThrownBy(() -> new BlockingIterator<>(iterator).next());
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, 1, 5, Long.MAX_VALUE })
	void whenHintsAreAddedThenTheySaturate(long count) {
		assertThat(SizeHint.exactly(1).plus(count).lower()).isEqualTo((count < Long.MAX_VALUE) ? count + 1 : count);
		assertThat(SizeHint.UNKNOWN.plus(count).upper()).isEmpty();
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> SizeHint.exactly(-1));
	}

	/**
	 * A step that ends when the test says so.
	 */
	private static class ManualStep implements AsyncStep<Closed> {

		final AtomicInteger advances = new AtomicInteger();

		final AtomicInteger cancels = new AtomicInteger();

		final AtomicInteger releases = new AtomicInteger();

		CompletableFuture<Optional<Closed>> pending = new CompletableFuture<>();

		CompletableFuture<Optional<Closed>> next;

		@Override
		public CompletionStage<Optional<Closed>> advance() {
			this.advances.incrementAndGet();
			this.pending = (this.next != null) ? this.next : new CompletableFuture<>();
			return this.pending;
		}

		@Override
		public void cancel() {
			this.cancels.incrementAndGet();
		}

		@Override
		public CompletionStage<Void> release() {
			this.releases.incrementAndGet();
			return CompletableFuture.completedFuture(null);
		}

	}

	/**
	 * Passes everything on.
	 */
	private abstract static class Delegate<T> implements AsyncIterator<T> {

		private final AsyncIterator<T> delegate;

		Delegate(AsyncIterator<T> delegate) {
			this.delegate = delegate;
		}

		@Override
		public SizeHint sizeHint() {
			return this.delegate.sizeHint();
		}

		@Override
		public void subscribe(Flow.Subscriber<? super T> subscriber) {
			this.delegate.subscribe(subscriber);
		}

		@Override
		public void close() {
			this.delegate.close();
		}

		@Override
		public CompletionStage<Void> closed() {
			return this.delegate.closed();
		}

		@Override
		public AsyncIterator<T> fuse() {
			return this.delegate.fuse();
		}

	}

	/**
	 * Counts how often it was closed.
	 */
	private static final class Closed implements AutoCloseable {

		final AtomicInteger count = new AtomicInteger();

		@Override
		public void close() {
			this.count.incrementAndGet();
		}

	}

}
