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
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class SpillManagerTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private final FakeStore store = new FakeStore();

	private SpillHarness harness() {
		return new SpillHarness(this.engine, this.store, 2);
	}

	private ReplaySpill finished(SpillHarness harness, Place place, int count) throws Exception {
		ReplaySpill spill = harness.spill(place);
		SpillSender sender = spill.sender();
		for (int i = 0; i < count; i++) {
			harness.write(sender, i);
		}
		EngineExtension.await(sender.finish());
		return spill;
	}

	@ParameterizedTest
	@EnumSource
	void closingOnePartLeavesTheOthersAlone(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill kept = finished(harness, place, 5);
		RecordBatchStream reader = kept.receiver().read();
		assertThat(harness.next(reader)).containsExactly(0L);
		kept.receiver().read().close();
		finished(harness, place, 5).close();
		List<RecordBatch> items = LongStream.range(0, 3).mapToObj((value) -> harness.batches.of(value)).toList();
		TestSource source = new TestSource(items.iterator(), this.engine.background(1));
		SpillReceiver drained = harness.manager.spill(source, place.options());
		EngineExtension.await(drained.written());
		drained.close();
		source.close();
		assertThat(harness.batches.take(EngineExtension.await(reader.collect()))).containsExactly(1L, 2L, 3L, 4L);
		assertThat(harness.read(finished(harness, place, 3).receiver())).containsExactly(0L, 1L, 2L);
	}

	@ParameterizedTest
	@EnumSource
	void whenClosedMidReadThenTheReaderIsTold(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = finished(harness, place, 5);
		RecordBatchStream reader = spill.receiver().read();
		assertThat(harness.next(reader)).containsExactly(0L);
		harness.manager.close();
		EngineExtension.await(harness.manager.closed());
		assertThat(SpillHarness.failure(reader.next())).isInstanceOf(SpillClosedException.class)
			.hasMessageContaining(spill.name())
			.hasMessageContaining("manager was closed");
		assertThat(this.store.closed).isTrue();
		assertThatExceptionOfType(SpillClosedException.class).isThrownBy(() -> harness.spill(place));
	}

	@ParameterizedTest
	@EnumSource
	void whenReaderCancelsAndOwnerClosesThenNothingIsLeft(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = finished(harness, place, 5);
		RecordBatchStream reader = spill.receiver().read();
		assertThat(harness.next(reader)).containsExactly(0L);
		reader.close();
		spill.close();
		EngineExtension.await(spill.closed());
		assertThat(harness.manager.statistics().memoryUsed()).isZero();
		assertThat(harness.manager.statistics().files()).isZero();
		assertThat(harness.manager.spills()).isEmpty();
		assertThat(this.store.files).allMatch((file) -> file.deleted);
	}

	static Stream<List<Integer>> orders() {
		return Stream.of(List.of(0, 1, 2), List.of(0, 2, 1), List.of(1, 0, 2), List.of(1, 2, 0), List.of(2, 0, 1),
				List.of(2, 1, 0));
	}

	@ParameterizedTest
	@MethodSource("orders")
	void closesInEveryOrderTwice(List<Integer> order) throws Exception {
		SpillHarness harness = harness();
		for (Place place : Place.values()) {
			ReplaySpill spill = finished(harness, place, 3);
			RecordBatchStream reader = spill.receiver().read();
			RecordBatch held = EngineExtension.await(reader.next()).orElseThrow();
			AutoCloseable[] parts = { reader, spill, held };
			for (int i = 0; i < 2; i++) {
				for (int part : order) {
					parts[part].close();
				}
			}
			EngineExtension.await(spill.closed());
			EngineExtension.await(reader.closed());
		}
		ReplaySpill spill = finished(harness, Place.DISK, 3);
		RecordBatchStream reader = spill.receiver().read();
		harness.next(reader);
		AutoCloseable[] parts = { reader, spill, harness.manager };
		for (int i = 0; i < 2; i++) {
			for (int part : order) {
				parts[part].close();
			}
		}
		EngineExtension.await(harness.manager.closed());
		EngineExtension.await(spill.closed());
	}

	@Test
	void drainLetsReadersAndWritersEnd() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill read = finished(harness, Place.DISK, 3);
		RecordBatchStream reader = read.receiver().read();
		harness.next(reader);
		ReplaySpill writing = harness.spill(Place.DISK);
		SpillSender sender = writing.sender();
		ReplaySpill idle = finished(harness, Place.DISK, 3);
		CompletionStage<Void> drained = harness.manager.drain(Duration.ofMinutes(5));
		assertThatExceptionOfType(SpillClosedException.class).isThrownBy(() -> harness.spill(Place.MEMORY))
			.withMessageContaining("shutting down");
		assertThat(harness.batches.take(EngineExtension.await(reader.collect()))).containsExactly(1L, 2L);
		assertThat(drained.toCompletableFuture()).isNotDone();
		harness.write(sender, 1);
		EngineExtension.await(sender.finish());
		EngineExtension.await(drained);
		assertThat(idle.snapshot().state()).isEqualTo(State.FINISHED);
		harness.manager.resume();
		assertThat(harness.read(idle.receiver())).hasSize(3);
		assertThat(harness.read(finished(harness, Place.DISK, 2).receiver())).hasSize(2);
	}

	@Test
	void drainFailsWhatIsLiveAfterTheGrace() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill read = finished(harness, Place.DISK, 3);
		RecordBatchStream reader = read.receiver().read();
		harness.next(reader);
		ReplaySpill writing = harness.spill(Place.MEMORY);
		SpillSender sender = writing.sender();
		CompletionStage<Optional<RecordBatch>> waiting = writing.receiver().read().next();
		EngineExtension.await(harness.manager.drain(Duration.ofMillis(20)));
		assertThat(SpillHarness.failure(waiting)).isInstanceOf(SpillClosedException.class)
			.hasMessageContaining("shutting down");
		assertThat(SpillHarness.failure(reader.next())).isInstanceOf(SpillClosedException.class);
		assertThat(SpillHarness.failure(harness.begin(sender, 1))).isInstanceOf(SpillClosedException.class);
		assertThat(harness.manager.statistics().files()).isZero();
		assertThat(harness.manager.statistics().failures()).containsEntry("closed", 1L);
		reader.close();
	}

	@Test
	void drainWithoutGraceOrSpillsIsDoneAtOnce() throws Exception {
		SpillHarness harness = harness();
		EngineExtension.await(harness.manager.drain(Duration.ofMinutes(5)));
		harness.manager.resume();
		harness.spill(Place.MEMORY);
		EngineExtension.await(harness.manager.drain(Duration.ZERO));
		EngineExtension.await(harness.manager.drain(Duration.ZERO));
	}

	@Test
	void resumeCallsTheDrainOff() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill writing = harness.spill(Place.MEMORY);
		SpillSender sender = writing.sender();
		harness.manager.drain(Duration.ofMillis(1));
		harness.manager.resume();
		harness.manager.drain(Duration.ofMinutes(5));
		for (int i = 0; i < 20; i++) {
			harness.write(sender, i);
		}
		harness.manager.resume();
		EngineExtension.await(sender.finish());
		assertThat(harness.read(writing.receiver())).hasSize(20);
	}

	@Test
	void whenTheExecutorIsShutDownThenEverythingEndsTyped() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = finished(harness, Place.DISK, 3);
		RecordBatchStream reader = spill.receiver().read();
		harness.next(reader);
		ReplaySpill writing = harness.spill(Place.DISK);
		SpillSender sender = writing.sender();
		harness.write(sender, 1);
		harness.pool.shutdown();
		assertThat(SpillHarness.failure(reader.next())).isInstanceOf(SpillClosedException.class)
			.isNotInstanceOf(RejectedExecutionException.class)
			.hasMessageContaining("executor is shut down");
		assertThat(SpillHarness.failure(harness.begin(sender, 2))).isInstanceOf(SpillClosedException.class);
		spill.close();
		assertThat(spill.closed().toCompletableFuture()).as("cleaned up by the closing thread").isDone();
		assertThat(this.store.files).allMatch((file) -> file.deleted);
		harness.manager.close();
		assertThat(harness.manager.closed().toCompletableFuture()).isDone();
	}

	@Test
	void whenTheExecutorThrowsItsQueueAwayThenNothingHangs() throws Exception {
		ExecutorService one = this.engine.pool(1);
		SpillHarness harness = new SpillHarness(this.engine, this.store, one, 1 << 20);
		ReplaySpill spill = finished(harness, Place.DISK, 3);
		CountDownLatch started = new CountDownLatch(1);
		CountDownLatch gate = new CountDownLatch(1);
		one.execute(() -> {
			started.countDown();
			holdUninterruptibly(gate);
		});
		started.await();
		CompletionStage<Optional<RecordBatch>> queued = spill.receiver().read().next();
		ReplaySpill writing = harness.spill(Place.DISK);
		CompletionStage<Void> write = harness.begin(writing.sender(), 1);
		assertThat(one.shutdownNow()).isNotEmpty();
		harness.manager.close();
		assertThat(SpillHarness.failure(queued)).isInstanceOf(SpillClosedException.class);
		assertThat(SpillHarness.failure(write)).isInstanceOf(SpillClosedException.class);
		EngineExtension.await(harness.manager.closed());
		gate.countDown();
	}

	@Test
	void whenTheExecutorIsShutDownAfterTheCloseThenItStillEnds() throws Exception {
		ExecutorService one = this.engine.pool(1);
		SpillHarness harness = new SpillHarness(this.engine, this.store, one, 1 << 20);
		finished(harness, Place.DISK, 3);
		CountDownLatch started = new CountDownLatch(1);
		CountDownLatch gate = new CountDownLatch(1);
		one.execute(() -> {
			started.countDown();
			holdUninterruptibly(gate);
		});
		started.await();
		harness.manager.close();
		assertThat(one.shutdownNow()).isNotEmpty();
		EngineExtension.await(harness.manager.closed());
		gate.countDown();
		assertThat(this.store.files).allMatch((file) -> file.deleted);
	}

	@Test
	void whenTheExecutorsQueueIsFullThenTheTaskIsOfferedAgain() throws Exception {
		ExecutorService one = new java.util.concurrent.ThreadPoolExecutor(1, 1, 0,
				java.util.concurrent.TimeUnit.SECONDS, new java.util.concurrent.SynchronousQueue<>());
		this.engine.closeLater(one::shutdown);
		SpillHarness harness = new SpillHarness(this.engine, this.store, one, 1 << 20);
		ReplaySpill spill = harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		EngineExtension.await(harness.manager.reclaimed());
		harness.write(sender, 1);
		EngineExtension.await(sender.finish());
		List<CompletionStage<List<RecordBatch>>> readers = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			readers.add(spill.receiver().read().collect());
		}
		for (CompletionStage<List<RecordBatch>> reader : readers) {
			assertThat(harness.batches.take(EngineExtension.await(reader))).containsExactly(1L);
		}
	}

	@Test
	void statisticsTellWhatIsHeldAndWhatWasDone() throws Exception {
		this.store.reclaims.set(3);
		SpillHarness harness = harness();
		assertThat(EngineExtension.await(harness.manager.reclaimed())).isEqualTo(3);
		ReplaySpill inMemory = finished(harness, Place.MEMORY, 3);
		ReplaySpill onDisk = finished(harness, Place.DISK, 3);
		harness.read(onDisk.receiver());
		SpillStatistics statistics = harness.manager.statistics();
		assertThat(statistics.active()).isEqualTo(2);
		assertThat(statistics.memoryUsed()).isEqualTo(inMemory.snapshot().memoryBytes()).isPositive();
		assertThat(statistics.memoryLimit()).isEqualTo(SpillManager.Builder.DEFAULT_TOTAL_MEMORY_LIMIT);
		assertThat(statistics.diskUsed()).isEqualTo(onDisk.snapshot().diskBytes()).isPositive();
		assertThat(statistics.bytesWritten()).isEqualTo(statistics.diskUsed());
		assertThat(statistics.bytesRead()).isPositive();
		assertThat(statistics.files()).isOne();
		assertThat(statistics.orphansReclaimed()).isEqualTo(3);
		assertThat(statistics.failures()).containsOnlyKeys("abandoned", "closed", "corrupted", "disk-full", "gone",
				"io", "quota-exceeded", "rejected", "source-failed");
		assertThat(statistics.failures().values()).containsOnly(0L);
		assertThat(harness.manager.spills()).extracting(SpillSnapshot::name)
			.containsExactlyInAnyOrder(inMemory.name(), onDisk.name());
	}

	@Test
	void sweepThatFailsDoesNotBreakTheStart() throws Exception {
		this.store.before = (call) -> {
			if (call.equals("reclaim")) {
				throw new IllegalStateException("boom");
			}
		};
		SpillHarness harness = harness();
		assertThat(EngineExtension.await(harness.manager.reclaimed())).isZero();
		assertThat(harness.read(finished(harness, Place.DISK, 3).receiver())).hasSize(3);
	}

	@Test
	void ageIsToldByTheClock() throws Exception {
		Instant[] now = { Instant.EPOCH };
		InstantSource clock = () -> now[0];
		SpillManager manager = this.engine.closeLater(
				SpillManager.builder(this.engine.allocator(), this.engine.pool(1)).clock(clock).build(this.store));
		ReplaySpill spill = manager.createReplaySpill(Batches.SCHEMA);
		now[0] = Instant.ofEpochSecond(90);
		assertThat(spill.snapshot().age()).isEqualTo(Duration.ofSeconds(90));
	}

	@Test
	void namesAreUniqueAndChecked() throws Exception {
		SpillHarness harness = harness();
		SpillOptions options = SpillOptions.DEFAULTS.withName("flights");
		assertThat(harness.manager.createReplaySpill(Batches.SCHEMA, options).name())
			.isNotEqualTo(harness.manager.createReplaySpill(Batches.SCHEMA, options).name())
			.startsWith("flights-");
		assertThatIllegalArgumentException().isThrownBy(() -> options.withName("../x"));
		assertThatIllegalArgumentException().isThrownBy(() -> options.withMemoryLimit(-1));
	}

	@Test
	void aSpillIsCompressedAndEncryptedAsItsOptionsSayOrElseAsItsManagerDoes() throws Exception {
		SpillCompression compression = SpillCompression.zstd(3);
		SpillManager manager = this.engine.closeLater(SpillManager.builder(this.engine.allocator(), this.engine.pool(1))
			.memoryLimit(0)
			.compression(compression)
			.encryption(true)
			.build(this.store));
		SpillOptions own = SpillOptions.DEFAULTS.withCompression(SpillCompression.NONE).withEncryption(false);
		for (SpillOptions options : List.of(SpillOptions.DEFAULTS, own)) {
			try (RecordBatch batch = new Batches(this.engine.allocator()).of(1)) {
				EngineExtension.await(manager.createReplaySpill(Batches.SCHEMA, options).sender().write(batch));
			}
		}
		assertThat(this.store.file(0).format).isEqualTo(new SpillFormat(compression, true));
		assertThat(this.store.file(1).format).isEqualTo(SpillFormat.PLAIN);
	}

	@Test
	void forgottenSpillIsGivenBack() throws Exception {
		SpillHarness harness = harness();
		forget(harness);
		Awaitility.await().until(() -> {
			System.gc();
			return harness.manager.statistics().active() == 0;
		});
		assertThat(this.store.file(0).deleted).isTrue();
	}

	private void forget(SpillHarness harness) throws Exception {
		finished(harness, Place.DISK, 3);
		finished(harness, Place.MEMORY, 3);
	}

	@Test
	void spillWithAReaderIsNotForgotten() throws Exception {
		SpillHarness harness = harness();
		RecordBatchStream reader = finished(harness, Place.DISK, 3).receiver().read();
		for (int i = 0; i < 5; i++) {
			System.gc();
		}
		assertThat(harness.batches.take(EngineExtension.await(reader.collect()))).containsExactly(0L, 1L, 2L);
	}

	private static void holdUninterruptibly(CountDownLatch gate) {
		while (true) {
			try {
				gate.await();
				return;
			}
			catch (InterruptedException ex) {
				// Goes on, as a task may that ignores interrupts.
			}
		}
	}

}
