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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Flow;
import java.util.stream.Stream;

import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Closing never blocks and never touches a file; what it starts ends all the same,
 * whatever is in progress.
 */
class SpillCloseTests {

	@Order(1)
	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@Order(2)
	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@TempDir
	Path directory;

	private List<Path> files() throws IOException {
		try (Stream<Path> files = Files.walk(this.directory)) {
			return files.filter((path) -> path.toString().endsWith(OwnedDirectory.FILE_SUFFIX)).toList();
		}
	}

	private SpillHarness harness(SpillFileSystem fileSystem, ReadMode mode, ExecutorService pool) {
		return new SpillHarness(this.engine, new FileSpillStore(() -> this.directory, this.engine.allocator(), mode,
				fileSystem, TestFiles.windows(1 << 16)), pool, 1L << 30);
	}

	@Test
	void whenClosedDuringASlowReadOfTheFileThenCloseReturnsAndItsStageEndsAfterTheRead() throws Exception {
		FaultyFileSystem slow = new FaultyFileSystem();
		SpillHarness harness = harness(slow, ReadMode.READ, this.engine.pool(2));
		ReplaySpill spill = harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		harness.write(sender, 1);
		EngineExtension.await(sender.finish());
		Gate gate = new Gate();
		slow.beforeRead(gate::pass);
		RecordBatchStream reader = spill.receiver().read();
		CompletionStage<Optional<RecordBatch>> read = reader.next();
		gate.awaitArrival();
		assertThat(this.engine.allocator().getAllocatedMemory()).as("memory of the read").isPositive();
		reader.close();
		spill.close();
		harness.manager.close();
		for (CompletionStage<Void> closed : List.of(spill.closed(), reader.closed(), harness.manager.closed())) {
			assertThat(closed.toCompletableFuture()).isNotDone();
		}
		assertThat(files()).hasSize(1);
		assertThat(this.engine.allocator().getAllocatedMemory()).isPositive();
		gate.open();
		EngineExtension.await(harness.manager.closed());
		EngineExtension.await(spill.closed());
		EngineExtension.await(reader.closed());
		assertThat(SpillHarness.failure(read)).isInstanceOf(CancellationException.class);
		assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
		assertThat(this.directory).isEmptyDirectory();
	}

	@Test
	void whenClosedWhileItSwitchesToDiskThenSubscribersAndTheWriterAreTold() throws Exception {
		FakeStore store = new FakeStore();
		Gate gate = store.holdUp("create");
		SpillHarness harness = new SpillHarness(this.engine, store, 2);
		ReplaySpill spill = harness.spill(Place.SWITCHING);
		SpillSender sender = spill.sender();
		Subscriber ahead = new Subscriber(harness.batches, Long.MAX_VALUE);
		Subscriber behind = new Subscriber(harness.batches, 1);
		spill.receiver().read().subscribe(ahead);
		spill.receiver().read().subscribe(behind);
		harness.write(sender, 0);
		CompletionStage<Void> switching;
		try (RecordBatch large = harness.batches.rows(1000, 1)) {
			switching = sender.write(large);
		}
		gate.awaitArrival();
		assertThat(spill.snapshot().state()).isEqualTo(SpillSnapshot.State.SWITCHING);
		assertThat(spill.snapshot().memoryBytes()).isPositive();
		spill.close();
		for (Subscriber subscriber : List.of(ahead, behind)) {
			// The one that asked for no more is told as soon as it does.
			subscriber.subscription.request(1);
			assertThat(SpillHarness.failure(subscriber.end)).isInstanceOf(SpillClosedException.class)
				.hasMessageContaining(spill.name());
			assertThat(subscriber.values).containsExactly(0L);
		}
		assertThat(SpillHarness.failure(switching)).isInstanceOf(SpillClosedException.class);
		assertThat(spill.closed().toCompletableFuture()).isNotDone();
		gate.open();
		EngineExtension.await(spill.closed());
		assertThat(store.files).allMatch((file) -> file.deleted && !file.finished);
		assertThat(harness.manager.statistics().memoryUsed()).isZero();
		assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void threadsThatAreInterruptedCleanUpAllTheSame(ReadMode mode) throws Exception {
		ExecutorService pool = this.engine.pool(1);
		SpillManager manager = SpillManager.builder(this.engine.allocator(), (task) -> pool.execute(() -> {
			Thread.currentThread().interrupt();
			task.run();
			assertThat(Thread.interrupted()).as("the interrupt is left to its owner").isTrue();
		}), pool::isShutdown).directories(List.of(this.directory)).readMode(mode).build();
		this.engine.closeLater(() -> {
			manager.close();
			EngineExtension.await(manager.closed());
		});
		Batches batches = new Batches(this.engine.allocator());
		for (boolean finished : new boolean[] { true, false }) {
			ReplaySpill spill = manager.createReplaySpill(Batches.SCHEMA, Place.DISK.options());
			SpillSender sender = spill.sender();
			for (int i = 0; i < 3; i++) {
				try (RecordBatch batch = batches.rows(100, i)) {
					EngineExtension.await(sender.write(batch));
				}
			}
			if (finished) {
				EngineExtension.await(sender.finish());
			}
			RecordBatchStream reader = spill.receiver().read();
			assertThat(batches.take(EngineExtension.await(reader.next()).orElseThrow())).containsOnly(0L);
			assertThat(files()).hasSize(1);
			reader.close();
			spill.close();
			EngineExtension.await(spill.closed());
			assertThat(files()).isEmpty();
			assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
		}
		manager.close();
		EngineExtension.await(manager.closed());
		assertThat(this.directory).isEmptyDirectory();
	}

	@ParameterizedTest
	@EnumSource
	void noCallOfAUserTouchesAFileOnTheUsersThread(ReadMode mode) throws Exception {
		for (Place place : Place.values()) {
			noCallOfAUserTouchesAFileOnTheUsersThread(place, mode);
		}
	}

	private void noCallOfAUserTouchesAFileOnTheUsersThread(Place place, ReadMode mode) throws Exception {
		ExecutorService eventLoop = this.engine.pool(1);
		GuardedFileSystem guard = new GuardedFileSystem();
		eventLoop.submit(() -> guard.guard(Thread.currentThread())).get();
		// The manager too is made there.
		SpillHarness harness = on(eventLoop, () -> harness(guard.fileSystem(), mode, this.engine.pool(1)));
		List<CompletionStage<?>> ends = new ArrayList<>();
		ReplaySpill spill = on(eventLoop, () -> harness.spill(place));
		SpillSender sender = on(eventLoop, spill::sender);
		Subscriber early = new Subscriber(harness.batches, 2);
		on(eventLoop, () -> {
			spill.receiver().read().subscribe(early);
			return early;
		});
		for (int i = 0; i < 10; i++) {
			int value = i;
			EngineExtension.await(on(eventLoop, () -> harness.begin(sender, value)));
		}
		EngineExtension.await(on(eventLoop, sender::finish));
		RecordBatchStream reader = on(eventLoop, () -> spill.receiver().read());
		assertThat(harness.taken(EngineExtension.await(on(eventLoop, reader::next)))).containsExactly(0L);
		// It is closed when its file is gone.
		RecordBatch held = EngineExtension.await(on(eventLoop, reader::next)).orElseThrow();
		// A second spill that is closed when nothing happens, a third one that fails, a
		// fourth one that is dropped while it is written, a fifth one that is drained
		// from
		// the first.
		ReplaySpill quiet = on(eventLoop, () -> harness.spill(place));
		SpillSender quietSender = on(eventLoop, quiet::sender);
		for (int i = 0; i < 10; i++) {
			EngineExtension.await(on(eventLoop, () -> harness.begin(quietSender, 1)));
		}
		EngineExtension.await(on(eventLoop, quietSender::finish));
		assertThat(quiet.snapshot().diskBytes() > 0).isEqualTo(place != Place.MEMORY);
		on(eventLoop, () -> {
			quiet.close();
			return quiet;
		});
		EngineExtension.await(quiet.closed());
		assertThat(guard.refused).isEmpty();
		ReplaySpill failing = on(eventLoop, () -> harness.spill(place));
		SpillSender failingSender = on(eventLoop, failing::sender);
		EngineExtension.await(on(eventLoop, () -> harness.begin(failingSender, 1)));
		ReplaySpill dropped = on(eventLoop, () -> harness.spill(place));
		SpillSender droppedSender = on(eventLoop, dropped::sender);
		CompletionStage<Void> writing = on(eventLoop, () -> harness.begin(droppedSender, 1));
		SpillReceiver drained = on(eventLoop, () -> harness.manager.spill(spill.receiver().source(), place.options()));
		on(eventLoop, () -> {
			failingSender.sendError(new IOException("boom"));
			early.subscription.cancel();
			reader.close();
			droppedSender.close();
			dropped.close();
			drained.close();
			spill.close();
			harness.manager.statistics();
			harness.manager.spills();
			ends.addAll(List.of(reader.closed(), failing.closed(), dropped.closed(), drained.closed(), spill.closed()));
			return ends;
		});
		for (CompletionStage<?> end : ends) {
			EngineExtension.await(end);
		}
		EngineExtension.await(writing.handle((done, failure) -> null));
		on(eventLoop, () -> harness.batches.take(held));
		assertThat(guard.refused).isEmpty();
		assertThat(files()).isEmpty();
		on(eventLoop, () -> {
			harness.manager.close();
			return harness;
		});
		EngineExtension.await(harness.manager.closed());
		assertThat(guard.refused).isEmpty();
		if (place != Place.MEMORY) {
			assertThat(guard.allowed.get()).as("the guard is asked").isGreaterThan(10);
		}
		assertThat(this.directory).isEmptyDirectory();
	}

	private static <T> T on(ExecutorService thread, java.util.concurrent.Callable<T> action) throws Exception {
		return thread.submit(action).get();
	}

	/**
	 * Takes as many batches as it is told.
	 */
	private static final class Subscriber implements Flow.Subscriber<RecordBatch> {

		final List<Long> values = new ArrayList<>();

		final CompletableFuture<Void> end = new CompletableFuture<>();

		volatile Flow.Subscription subscription;

		private final Batches batches;

		private final long demand;

		Subscriber(Batches batches, long demand) {
			this.batches = batches;
			this.demand = demand;
		}

		@Override
		public void onSubscribe(Flow.Subscription subscription) {
			this.subscription = subscription;
			subscription.request(this.demand);
		}

		@Override
		public void onNext(RecordBatch batch) {
			this.values.addAll(this.batches.take(batch));
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
