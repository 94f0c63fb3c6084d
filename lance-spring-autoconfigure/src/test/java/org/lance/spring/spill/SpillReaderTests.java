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

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.stream.SizeHint;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

class SpillReaderTests {

	private static final int ECHOES = 200;

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private final FakeStore store = new FakeStore();

	private SpillHarness harness() {
		return new SpillHarness(this.engine, this.store, 1);
	}

	@ParameterizedTest
	@EnumSource
	void readersBeforeDuringAndAfterGetEverything(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(place);
		SpillSender sender = spill.sender();
		RecordBatchStream before = spill.receiver().read();
		CompletionStage<Optional<RecordBatch>> first = before.next();
		assertThat(first.toCompletableFuture()).as("waits for the first write").isNotDone();
		harness.write(sender, 0);
		assertThat(harness.taken(EngineExtension.await(first))).containsExactly(0L);
		for (int i = 1; i < 10; i++) {
			harness.write(sender, i);
		}
		RecordBatchStream during = spill.receiver().read();
		List<Long> seen = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			seen.addAll(harness.next(during));
		}
		assertThat(seen).containsExactlyElementsOf(numbers(10));
		CompletionStage<Optional<RecordBatch>> eleventh = during.next();
		assertThat(eleventh.toCompletableFuture()).isNotDone();
		for (int i = 10; i < 20; i++) {
			harness.write(sender, i);
		}
		assertThat(harness.taken(EngineExtension.await(eleventh))).containsExactly(10L);
		EngineExtension.await(sender.finish());
		assertThat(harness.read(spill.receiver())).containsExactlyElementsOf(numbers(20));
		assertThat(harness.batches.take(EngineExtension.await(before.collect())))
			.containsExactlyElementsOf(numbers(20).subList(1, 20));
		assertThat(harness.batches.take(EngineExtension.await(during.collect())))
			.containsExactlyElementsOf(numbers(20).subList(11, 20));
		assertThat(spill.snapshot().readers()).isZero();
		assertThat(spill.snapshot().state()).isEqualTo(State.FINISHED);
	}

	private static List<Long> numbers(int count) {
		return LongStream.range(0, count).boxed().toList();
	}

	@Test
	void switchKeepsThePlaceOfEveryReader() throws Exception {
		SpillHarness harness = harness();
		Gate gate = this.store.holdUp("create");
		ReplaySpill spill = harness.manager.createReplaySpill(Batches.SCHEMA,
				SpillOptions.DEFAULTS.withMemoryLimit(64 * 1024));
		SpillSender sender = spill.sender();
		List<RecordBatchStream> readers = new ArrayList<>();
		List<List<Long>> seen = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			harness.write(sender, i);
			readers.add(spill.receiver().read());
			seen.add(new ArrayList<>());
		}
		for (int i = 0; i < 5; i++) {
			for (int j = 0; j < i; j++) {
				seen.get(i).addAll(harness.next(readers.get(i)));
			}
		}
		CompletionStage<Void> switching;
		try (RecordBatch big = harness.batches.rows(20_000, 5)) {
			switching = sender.write(big);
		}
		gate.awaitArrival();
		assertThat(spill.snapshot().state()).isEqualTo(State.SWITCHING);
		for (int i = 0; i < 5; i++) {
			seen.get(i).addAll(harness.next(readers.get(i)));
		}
		CompletionStage<Optional<RecordBatch>> waiting = null;
		RecordBatchStream atTheEnd = readers.get(4);
		waiting = atTheEnd.next();
		assertThat(waiting.toCompletableFuture()).isNotDone();
		gate.open();
		EngineExtension.await(switching);
		assertThat(spill.snapshot().state()).isEqualTo(State.ON_DISK);
		assertThat(spill.snapshot().memoryBytes()).isZero();
		assertThat(spill.snapshot().diskBytes()).isPositive();
		assertThat(harness.taken(EngineExtension.await(waiting))).hasSize(20_000).containsOnly(5L);
		EngineExtension.await(sender.finish());
		for (int i = 0; i < 4; i++) {
			List<Long> rest = harness.batches.take(EngineExtension.await(readers.get(i).collect()));
			seen.get(i).addAll(rest.subList(0, rest.size() - 20_000));
		}
		assertThat(seen).allSatisfy((values) -> assertThat(values).containsExactlyElementsOf(numbers(5)));
		assertThat(harness.next(atTheEnd)).isNull();
	}

	@ParameterizedTest
	@EnumSource
	void emptyBatchIsNoEnd(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(place);
		SpillSender sender = spill.sender();
		int[] rows = { 5, 0, 7, 0 };
		for (int count : rows) {
			try (RecordBatch batch = harness.batches.rows(count, 1)) {
				EngineExtension.await(sender.write(batch));
			}
		}
		EngineExtension.await(sender.finish());
		List<RecordBatch> batches = EngineExtension.await(spill.receiver().read().collect());
		assertThat(batches).extracting(RecordBatch::rowCount).containsExactly(5, 0, 7, 0);
		batches.forEach(RecordBatch::close);
		assertThat(spill.snapshot().rows()).isEqualTo(12);
	}

	@ParameterizedTest
	@EnumSource
	void spillWithoutBatchesEndsAtOnce(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(place);
		RecordBatchStream reader = spill.receiver().read();
		CompletionStage<Optional<RecordBatch>> waiting = reader.next();
		EngineExtension.await(spill.sender().finish());
		assertThat(EngineExtension.await(waiting)).isEmpty();
		assertThat(harness.read(spill.receiver())).isEmpty();
		assertThat(reader.schema()).isEqualTo(Batches.SCHEMA);
		assertThat(this.store.fileCount()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void errorOvertakesUnreadBatches(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(place);
		SpillSender sender = spill.sender();
		RecordBatchStream old = spill.receiver().read();
		for (int i = 0; i < 10; i++) {
			harness.write(sender, i);
		}
		assertThat(harness.next(old)).containsExactly(0L);
		Exception boom = new Exception("boom");
		sender.sendError(boom);
		assertThat(SpillHarness.failure(old.next())).isInstanceOf(SpillSourceFailedException.class).hasCause(boom);
		assertThat(SpillHarness.failure(spill.receiver().read().next())).hasCause(boom);
		EngineExtension.await(spill.closed());
		assertThat(spill.snapshot().memoryBytes()).isZero();
		assertThat(spill.snapshot().diskBytes()).isZero();
		assertThat(this.store.files).allMatch((file) -> file.deleted && !file.finished);
	}

	@ParameterizedTest
	@EnumSource
	void batchesStayValidAfterTheSpillIsClosed(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(place);
		SpillSender sender = spill.sender();
		harness.write(sender, 1, 2, 3);
		EngineExtension.await(sender.finish());
		List<RecordBatch> batches = EngineExtension.await(spill.receiver().read().collect());
		spill.close();
		EngineExtension.await(spill.closed());
		assertThat(harness.batches.take(batches)).containsExactly(1L, 2L, 3L);
	}

	@ParameterizedTest
	@EnumSource
	void whenClosedThenSubscriberIsTold(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(place);
		SpillSender sender = spill.sender();
		Collector subscriber = new Collector(harness.batches);
		spill.receiver().read().subscribe(subscriber);
		harness.write(sender, 1);
		harness.write(sender, 2);
		assertThat(EngineExtension.await(subscriber.second)).containsExactly(1L, 2L);
		spill.close();
		assertThat(SpillHarness.failure(subscriber.done)).isInstanceOf(SpillClosedException.class)
			.hasMessageContaining(spill.name());
		EngineExtension.await(spill.closed());
	}

	@Test
	void whenSpillIsClosedDuringASlowReadThenItIsGivenBackAfterIt() throws Exception {
		// A second thread could delete the file too early.
		SpillHarness harness = new SpillHarness(this.engine, this.store, 2);
		Gate gate = this.store.holdUp("read 0");
		ReplaySpill spill = harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		harness.write(sender, 1);
		RecordBatchStream reader = spill.receiver().read();
		CompletionStage<Optional<RecordBatch>> slow = reader.next();
		gate.awaitArrival();
		spill.close();
		reader.close();
		assertThat(spill.closed().toCompletableFuture()).isNotDone();
		assertThat(this.store.file(0).deleted).isFalse();
		gate.open();
		EngineExtension.await(spill.closed());
		assertThat(this.store.file(0).deleted).isTrue();
		assertThat(SpillHarness.failure(slow)).isInstanceOf(CancellationException.class);
		EngineExtension.await(reader.closed());
	}

	@Test
	void failedReadIsThatReadersAloneAndMayBeTriedAgain() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		harness.write(sender, 1);
		AtomicBoolean failed = new AtomicBoolean();
		this.store.before = (call) -> {
			if (call.startsWith("read") && failed.compareAndSet(false, true)) {
				throw new IllegalStateException("boom");
			}
		};
		RecordBatchStream first = spill.receiver().read();
		RecordBatchStream second = spill.receiver().read();
		assertThat(SpillHarness.failure(first.next())).isInstanceOf(SpillIoException.class)
			.hasMessageContaining("batch 0 could not be read");
		assertThat(harness.next(second)).containsExactly(1L);
		assertThat(harness.next(first)).containsExactly(1L);
		harness.write(sender, 2);
		EngineExtension.await(sender.finish());
		assertThat(harness.next(second)).containsExactly(2L);
		assertThat(harness.manager.statistics().failures()).containsEntry("io", 1L);
		first.close();
		second.close();
	}

	@ParameterizedTest
	@EnumSource
	void closedReaderDoesNotWaitAnyMore(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(place);
		RecordBatchStream reader = spill.receiver().read();
		CompletionStage<Optional<RecordBatch>> waiting = reader.next();
		assertThat(spill.snapshot().readers()).isOne();
		reader.close();
		reader.close();
		assertThat(SpillHarness.failure(waiting)).isInstanceOf(CancellationException.class);
		EngineExtension.await(reader.closed());
		assertThat(spill.snapshot().readers()).isZero();
		SpillSender sender = spill.sender();
		harness.write(sender, 1);
		EngineExtension.await(sender.finish());
		assertThat(harness.read(spill.receiver())).containsExactly(1L);
	}

	@ParameterizedTest
	@EnumSource
	void sizeHintGrowsWithWhatIsWritten(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(place);
		SpillSender sender = spill.sender();
		RecordBatchStream reader = spill.receiver().read();
		assertThat(reader.sizeHint()).isEqualTo(SizeHint.UNKNOWN);
		harness.write(sender, 1);
		harness.write(sender, 2);
		assertThat(reader.sizeHint()).isEqualTo(SizeHint.UNKNOWN.plus(2));
		EngineExtension.await(sender.finish());
		assertThat(reader.sizeHint()).isEqualTo(SizeHint.exactly(2));
		harness.next(reader);
		assertThat(reader.sizeHint()).isEqualTo(SizeHint.exactly(1));
		reader.close();
	}

	@Test
	void readerThatWritesDoesNotGrowTheStack() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(Place.MEMORY);
		SpillSender sender = spill.sender();
		AtomicInteger deepest = new AtomicInteger();
		CompletableFuture<Void> done = new CompletableFuture<>();
		RecordBatchStream reader = spill.receiver().read();
		echo(harness, reader, sender, deepest, done);
		harness.begin(sender, 0);
		EngineExtension.await(done);
		assertThat(spill.snapshot().batches()).isEqualTo(ECHOES + 1);
		assertThat(deepest.get()).isLessThan(300);
		reader.close();
	}

	/**
	 * Waits for the next batch before it writes another one.
	 */
	private void echo(SpillHarness harness, RecordBatchStream reader, SpillSender sender, AtomicInteger deepest,
			CompletableFuture<Void> done) {
		reader.next().thenAccept((item) -> {
			deepest.accumulateAndGet(Thread.currentThread().getStackTrace().length, Math::max);
			long value = harness.taken(item).get(0);
			if (value < ECHOES) {
				echo(harness, reader, sender, deepest, done);
				harness.begin(sender, value + 1);
			}
			else {
				done.complete(null);
			}
		});
	}

	@Test
	void readersThatWaitForTheSameBatchGetItOnThreadsOfTheirOwn() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, 2);
		ReplaySpill spill = harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		List<RecordBatchStream> readers = List.of(spill.receiver().read(), spill.receiver().read());
		// Until nothing has to be loaded any more: what takes long does not go on anyway.
		for (int i = 0; i < 50; i++) {
			harness.write(sender, i);
			for (RecordBatchStream reader : readers) {
				assertThat(harness.next(reader)).hasSize(1);
			}
		}
		CountDownLatch both = new CountDownLatch(2);
		List<CompletionStage<Boolean>> seen = new ArrayList<>();
		for (RecordBatchStream reader : readers) {
			seen.add(reader.next().thenApply((batch) -> {
				batch.ifPresent(RecordBatch::close);
				both.countDown();
				return await(both);
			}));
		}
		harness.write(sender, 50);
		for (CompletionStage<Boolean> each : seen) {
			assertThat(EngineExtension.await(each)).isTrue();
		}
		EngineExtension.await(sender.finish());
	}

	private static boolean await(CountDownLatch latch) {
		try {
			return latch.await(3, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void continuationsMayNotWaitForTheEngine() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(Place.MEMORY);
		SpillSender sender = spill.sender();
		CompletionStage<Void> refused = spill.receiver().read().next().thenAccept((item) -> {
			item.orElseThrow().close();
			try (RecordBatchStream other = spill.receiver().read()) {
				other.next().thenAccept((first) -> first.orElseThrow().close());
				other.next().toCompletableFuture().join();
			}
		});
		harness.begin(sender, 1);
		assertThat(SpillHarness.failure(refused)).isInstanceOf(IllegalStateException.class)
			.hasMessageContaining("must not wait");
	}

	/**
	 * Takes everything.
	 */
	private static final class Collector implements Flow.Subscriber<RecordBatch> {

		final CompletableFuture<List<Long>> second = new CompletableFuture<>();

		final CompletableFuture<Void> done = new CompletableFuture<>();

		private final List<Long> values = new ArrayList<>();

		private final Batches batches;

		Collector(Batches batches) {
			this.batches = batches;
		}

		@Override
		public void onSubscribe(Flow.Subscription subscription) {
			subscription.request(Long.MAX_VALUE);
		}

		@Override
		public void onNext(RecordBatch batch) {
			this.values.addAll(this.batches.take(batch));
			if (this.values.size() == 2) {
				this.second.complete(this.values);
			}
		}

		@Override
		public void onError(Throwable failure) {
			this.done.completeExceptionally(failure);
		}

		@Override
		public void onComplete() {
			this.done.complete(null);
		}

	}

}
