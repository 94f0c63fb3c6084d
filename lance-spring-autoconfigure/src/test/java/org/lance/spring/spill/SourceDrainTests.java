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

package org.lance.spring.spill;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.BackgroundIterator;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.stream.StreamAdmissionException;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class SourceDrainTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private final FakeStore store = new FakeStore();

	private SpillHarness harness() {
		return new SpillHarness(this.engine, this.store, 1);
	}

	private Iterator<RecordBatch> numbers(SpillHarness harness, int count) {
		return LongStream.range(0, count).mapToObj((value) -> harness.batches.of(value)).iterator();
	}

	@ParameterizedTest
	@EnumSource
	void wholeSourceIsSpilled(Place place) throws Exception {
		SpillHarness harness = harness();
		TestSource source = new TestSource(numbers(harness, 1000), this.engine.background(1));
		SpillReceiver receiver = harness.manager.spill(source, place.options().withName("flights"));
		RecordBatchStream early = receiver.read();
		SpillSnapshot written = EngineExtension.await(receiver.written());
		assertThat(written.batches()).isEqualTo(1000);
		assertThat(written.rows()).isEqualTo(1000);
		assertThat(written.name()).startsWith("flights-");
		List<Long> expected = LongStream.range(0, 1000).boxed().toList();
		assertThat(harness.batches.take(EngineExtension.await(early.collect()))).isEqualTo(expected);
		assertThat(harness.read(receiver)).isEqualTo(expected);
		receiver.close();
		EngineExtension.await(receiver.closed());
		assertThat(source.closes).hasValue(1);
	}

	@ParameterizedTest
	@EnumSource
	void failureOfTheSourceReachesEveryReader(Place place) throws Exception {
		SpillHarness harness = harness();
		IllegalArgumentException boom = new IllegalArgumentException("boom");
		CountDownLatch gate = new CountDownLatch(1);
		Iterator<RecordBatch> batches = numbers(harness, 3);
		TestSource source = new TestSource(new Iterator<>() {

			@Override
			public boolean hasNext() {
				return true;
			}

			@Override
			public RecordBatch next() {
				if (!batches.hasNext()) {
					hold(gate);
					throw boom;
				}
				return batches.next();
			}

		}, this.engine.background(1));
		SpillReceiver receiver = harness.manager.spill(source, place.options());
		RecordBatchStream before = receiver.read();
		CompletionStage<List<RecordBatch>> all = before.collect();
		RecordBatchStream during = receiver.read();
		assertThat(harness.next(during)).containsExactly(0L);
		gate.countDown();
		assertThat(SpillHarness.failure(all)).isInstanceOf(SpillSourceFailedException.class)
			.satisfies((ex) -> assertThat(ex.getCause()).isSameAs(boom));
		assertThat(SpillHarness.failure(during.collect())).isInstanceOf(SpillSourceFailedException.class)
			.satisfies((ex) -> assertThat(ex.getCause()).isSameAs(boom));
		assertThat(SpillHarness.failure(receiver.read().collect())).isInstanceOf(SpillSourceFailedException.class)
			.satisfies((ex) -> assertThat(ex.getCause()).isSameAs(boom));
		assertThat(SpillHarness.failure(receiver.written())).isInstanceOf(SpillSourceFailedException.class);
		assertThat(this.store.files).noneMatch((file) -> file.finished);
		EngineExtension.await(receiver.closed());
		assertThat(source.closes).hasValue(1);
	}

	@ParameterizedTest
	@EnumSource
	void whenClosedThenAnEndlessSourceIsStoppedAndClosedOnce(Place place) throws Exception {
		SpillHarness harness = harness();
		Iterator<RecordBatch> endless = LongStream.iterate(0, (value) -> value + 1)
			.mapToObj((value) -> harness.batches.of(value))
			.iterator();
		AtomicInteger afterClose = new AtomicInteger();
		AtomicInteger closed = new AtomicInteger();
		TestSource source = new TestSource(new Iterator<>() {

			@Override
			public boolean hasNext() {
				return true;
			}

			@Override
			public RecordBatch next() {
				if (closed.get() == 1) {
					afterClose.incrementAndGet();
				}
				return endless.next();
			}

		}, this.engine.background(1));
		SpillReceiver receiver = harness.manager.spill(source, place.options());
		Awaitility.await().pollInterval(Duration.ofMillis(5)).until(() -> receiver.snapshot().batches() > 100);
		receiver.close();
		closed.set(1);
		receiver.close();
		EngineExtension.await(receiver.closed());
		assertThat(afterClose.get()).isLessThanOrEqualTo(1);
		assertThat(source.closes).hasValue(1);
		assertThat(SpillHarness.failure(receiver.read().next())).isInstanceOf(SpillClosedException.class);
	}

	@Test
	void whenTheSpillFailsThenTheSourceIsStopped() throws Exception {
		SpillHarness harness = harness();
		this.store.before = (call) -> {
			if (call.equals("append 5")) {
				throw new IllegalStateException("boom");
			}
		};
		TestSource source = new TestSource(numbers(harness, 1000), this.engine.background(1));
		SpillReceiver receiver = harness.manager.spill(source, Place.DISK.options());
		assertThat(SpillHarness.failure(receiver.written())).isInstanceOf(SpillIoException.class);
		EngineExtension.await(receiver.closed());
		assertThat(source.closes).hasValue(1);
		assertThat(source.nexts.get()).isLessThanOrEqualTo(8);
		assertThat(receiver.snapshot().state()).isEqualTo(State.FAILED);
	}

	@Test
	void whenNoStreamIsAdmittedThenTheCallerIsToldAndNothingLeaks() throws Exception {
		SpillHarness harness = harness();
		BackgroundExecutor full = new BackgroundExecutor(this.engine.pool(1), 1);
		BackgroundIterator<Integer> other = BackgroundIterator.of(List.of(1).iterator(), full);
		TestSource source = new TestSource(numbers(harness, 1), full);
		assertThatExceptionOfType(StreamAdmissionException.class).isThrownBy(() -> harness.manager.spill(source));
		assertThat(source.closes).hasValue(1);
		assertThat(harness.manager.statistics().active()).isZero();
		other.close();
	}

	@Test
	void whenTheManagerIsClosedThenTheSourceIsGivenBack() throws Exception {
		SpillHarness harness = harness();
		harness.manager.close();
		TestSource source = new TestSource(numbers(harness, 1), this.engine.background(1));
		assertThatExceptionOfType(SpillClosedException.class).isThrownBy(() -> harness.manager.spill(source))
			.withMessageContaining("shutting down");
		assertThat(source.closes).hasValue(1);
	}

	@Test
	void sourceThatWaitsForItsOwnExecutorIsRefusedAtOnce() throws Exception {
		SpillHarness harness = harness();
		BackgroundExecutor one = this.engine.background(1);
		BackgroundIterator<Integer> inner = BackgroundIterator.of(List.of(1, 2, 3).iterator(), one);
		Iterator<Integer> blocking = inner.blocking();
		TestSource source = new TestSource(new Iterator<>() {

			@Override
			public boolean hasNext() {
				return blocking.hasNext();
			}

			@Override
			public RecordBatch next() {
				return harness.batches.of(blocking.next());
			}

		}, one);
		SpillReceiver receiver = harness.manager.spill(source);
		assertThat(SpillHarness.failure(receiver.read().collect())).isInstanceOf(SpillSourceFailedException.class)
			.cause()
			.isInstanceOf(IllegalStateException.class)
			.hasMessageContaining("belongs to the engine");
		inner.close();
	}

	@Test
	void sourceThatBlocksDoesNotDelayTheReplayOfAnotherSpill() throws Exception {
		SpillHarness harness = harness();
		BackgroundExecutor one = this.engine.background(1);
		ReplaySpill other = harness.spill(Place.DISK);
		SpillSender sender = other.sender();
		harness.write(sender, 1);
		EngineExtension.await(sender.finish());
		CountDownLatch blocked = new CountDownLatch(1);
		CountDownLatch gate = new CountDownLatch(1);
		SpillReceiver slow = harness.manager.spill(new TestSource(new Iterator<>() {

			@Override
			public boolean hasNext() {
				blocked.countDown();
				hold(gate);
				return false;
			}

			@Override
			public RecordBatch next() {
				throw new NoSuchElementException();
			}

		}, one), Place.DISK.options());
		blocked.await();
		for (int i = 0; i < 100; i++) {
			assertThat(harness.read(other.receiver())).containsExactly(1L);
		}
		gate.countDown();
		EngineExtension.await(slow.written());
	}

	@Test
	void drainOfManyReadyBatchesDoesNotGrowTheStack() throws Exception {
		SpillHarness harness = harness();
		TestSource source = new TestSource(numbers(harness, 2_000), this.engine.background(1));
		SpillReceiver receiver = harness.manager.spill(source, Place.MEMORY.options());
		assertThat(EngineExtension.await(receiver.written()).batches()).isEqualTo(2_000);
		SpillReceiver copy = harness.manager.spill(receiver.source(), Place.MEMORY.options());
		assertThat(EngineExtension.await(copy.written()).batches()).isEqualTo(2_000);
	}

	@Test
	void whenTheBackgroundExecutorIsShutDownThenTheSpillEndsTyped() throws Exception {
		SpillHarness harness = harness();
		BackgroundExecutor background = this.engine.background(1);
		CountDownLatch started = new CountDownLatch(1);
		CountDownLatch gate = new CountDownLatch(1);
		SpillReceiver receiver = harness.manager.spill(new TestSource(new Iterator<>() {

			@Override
			public boolean hasNext() {
				started.countDown();
				hold(gate);
				return true;
			}

			@Override
			public RecordBatch next() {
				return harness.batches.of(1);
			}

		}, background), Place.DISK.options());
		started.await();
		background.close();
		gate.countDown();
		assertThat(SpillHarness.failure(receiver.written())).isInstanceOf(SpillSourceFailedException.class)
			.isNotInstanceOf(RejectedExecutionException.class);
	}

	private static void hold(CountDownLatch gate) {
		try {
			gate.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
