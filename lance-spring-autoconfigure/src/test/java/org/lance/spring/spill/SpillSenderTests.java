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
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.stream.SchemaMismatchException;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class SpillSenderTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private final FakeStore store = new FakeStore();

	private SpillHarness harness() {
		return new SpillHarness(this.engine, this.store, 2);
	}

	@Test
	void secondSenderIsRefused() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(Place.MEMORY);
		SpillSender sender = spill.sender();
		assertThatIllegalStateException().isThrownBy(spill::sender)
			.withMessageContaining(spill.name())
			.withMessageContaining("one writer");
		harness.write(sender, 1);
		EngineExtension.await(sender.finish());
		assertThat(harness.read(spill.receiver())).containsExactly(1L);
	}

	@ParameterizedTest
	@EnumSource
	void writeIsDoneWhenReadersCanGetTheBatch(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(place);
		SpillSender sender = spill.sender();
		for (int i = 0; i < 20; i++) {
			harness.write(sender, i);
			assertThat(spill.snapshot().batches()).isEqualTo(i + 1);
		}
		assertThat(spill.snapshot().rows()).isEqualTo(20);
		assertThat(this.store.fileCount()).isEqualTo((place == Place.MEMORY) ? 0 : 1);
		assertThat(spill.snapshot().state()).isEqualTo((place == Place.MEMORY) ? State.IN_MEMORY : State.ON_DISK);
		EngineExtension.await(sender.finish());
		assertThat(EngineExtension.await(spill.receiver().written()).batches()).isEqualTo(20);
	}

	@Test
	void callerMayCloseItsHandleAtOnce() throws Exception {
		SpillHarness harness = harness();
		Gate gate = new Gate();
		this.store.before = (call) -> gate.pass();
		ReplaySpill spill = harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		CompletionStage<Void> written = harness.begin(sender, 1, 2, 3);
		assertThat(written.toCompletableFuture()).isNotDone();
		gate.open();
		EngineExtension.await(written);
		EngineExtension.await(sender.finish());
		assertThat(harness.read(spill.receiver())).containsExactly(1L, 2L, 3L);
	}

	@Test
	void twoWritesAtOnceAreRefused() throws Exception {
		SpillHarness harness = harness();
		Gate gate = new Gate();
		this.store.before = (call) -> gate.pass();
		SpillSender sender = harness.spill(Place.DISK).sender();
		CompletionStage<Void> first = harness.begin(sender, 1);
		assertThat(SpillHarness.failure(harness.begin(sender, 2))).isInstanceOf(IllegalStateException.class)
			.hasMessageContaining("one call at a time");
		assertThat(SpillHarness.failure(sender.finish())).isInstanceOf(IllegalStateException.class);
		gate.open();
		EngineExtension.await(first);
		harness.write(sender, 2);
		EngineExtension.await(sender.finish());
	}

	@ParameterizedTest
	@EnumSource
	void nothingIsTakenAfterTheEnd(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(place);
		SpillSender sender = spill.sender();
		harness.write(sender, 1);
		EngineExtension.await(sender.finish());
		assertThat(SpillHarness.failure(harness.begin(sender, 2))).isInstanceOf(IllegalStateException.class)
			.hasMessageContaining("is finished");
		assertThat(SpillHarness.failure(sender.finish())).isInstanceOf(IllegalStateException.class);
		sender.sendError(new IOException("too late"));
		sender.close();
		sender.close();
		assertThat(spill.snapshot().state()).isEqualTo(State.FINISHED);
		assertThat(harness.read(spill.receiver())).containsExactly(1L);
	}

	@ParameterizedTest
	@EnumSource
	void batchOfAnotherSchemaIsRefusedAndTheSpillGoesOn(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(place);
		SpillSender sender = spill.sender();
		harness.write(sender, 1);
		Schema other = new Schema(List.of(Field.nullable("n", new ArrowType.Int(32, true))));
		try (VectorSchemaRoot root = VectorSchemaRoot.create(other, this.engine.allocator())) {
			((IntVector) root.getVector(0)).setSafe(0, 1);
			root.setRowCount(1);
			try (RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator())) {
				assertThat(SpillHarness.failure(sender.write(batch))).isInstanceOf(SchemaMismatchException.class)
					.hasMessageContaining("'n'");
			}
		}
		harness.write(sender, 2);
		EngineExtension.await(sender.finish());
		assertThat(harness.read(spill.receiver())).containsExactly(1L, 2L);
	}

	@Test
	void closedBatchIsRefused() throws Exception {
		SpillHarness harness = harness();
		SpillSender sender = harness.spill(Place.MEMORY).sender();
		RecordBatch batch = harness.batches.of(1);
		batch.close();
		assertThat(SpillHarness.failure(sender.write(batch))).isInstanceOf(IllegalStateException.class)
			.hasMessageContaining("closed");
	}

	@ParameterizedTest
	@EnumSource
	void finishAndCloseAfterAnErrorKeepTheError(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(place);
		SpillSender sender = spill.sender();
		harness.write(sender, 1);
		IOException boom = new IOException("boom");
		sender.sendError(boom);
		assertThat(SpillHarness.failure(sender.finish())).isInstanceOf(SpillSourceFailedException.class)
			.hasMessageContaining("already failed")
			.hasCause(boom);
		assertThat(SpillHarness.failure(harness.begin(sender, 2))).isInstanceOf(SpillSourceFailedException.class)
			.hasCause(boom);
		sender.close();
		spill.close();
		List<Throwable> failures = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			try (RecordBatchStream reader = spill.receiver().read()) {
				failures.add(SpillHarness.failure(reader.next()));
				failures.add(SpillHarness.failure(reader.next()));
			}
		}
		failures.add(SpillHarness.failure(spill.receiver().written()));
		assertThat(failures).allSatisfy((failure) -> assertThat(failure).isInstanceOf(SpillSourceFailedException.class)
			.hasMessageContaining(spill.name())
			.satisfies((ex) -> assertThat(ex.getCause()).isSameAs(boom)));
		assertThat(failures).usingElementComparator((left, right) -> (left == right) ? 0 : 1).doesNotHaveDuplicates();
		assertThat(harness.manager.statistics().failures()).containsEntry("source-failed", 1L);
	}

	@Test
	void failedWriteFailsTheSpillForGood() throws Exception {
		SpillHarness harness = harness();
		IOException boom = new IOException("boom");
		failAt("append 2", boom);
		ReplaySpill spill = harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		RecordBatchStream early = spill.receiver().read();
		harness.write(sender, 0);
		harness.write(sender, 1);
		assertThat(harness.next(early)).containsExactly(0L);
		Throwable failure = SpillHarness.failure(harness.begin(sender, 2));
		assertThat(failure).isInstanceOf(SpillIoException.class)
			.hasMessageContaining(spill.name())
			.hasMessageContaining("batch 2")
			.hasRootCause(boom);
		assertThat(spill.snapshot().state()).isEqualTo(State.FAILED);
		assertThat(spill.snapshot().batches()).isEqualTo(2);
		assertThat(SpillHarness.failure(harness.begin(sender, 3))).isInstanceOf(SpillIoException.class)
			.hasMessageContaining("already failed")
			.hasRootCause(boom);
		assertThat(SpillHarness.failure(sender.finish())).isInstanceOf(SpillIoException.class)
			.hasMessageContaining("already failed");
		assertThat(SpillHarness.failure(early.next())).isInstanceOf(SpillIoException.class).hasRootCause(boom);
		assertThat(SpillHarness.failure(spill.receiver().read().next())).isInstanceOf(SpillIoException.class)
			.hasRootCause(boom);
		EngineExtension.await(spill.closed());
		assertThat(this.store.file(0).finished).isFalse();
		assertThat(this.store.file(0).deleted).isTrue();
		assertThat(harness.manager.statistics().failures()).containsEntry("io", 1L);
		early.close();
	}

	@ParameterizedTest
	@EnumSource(names = "MEMORY", mode = EnumSource.Mode.EXCLUDE)
	void whenTheSwitchFailsThenTheSpillCanNeverBeFinished(Place place) throws Exception {
		SpillHarness harness = harness();
		failAt("create", new IOException("boom"));
		ReplaySpill spill = harness.spill(place);
		SpillSender sender = spill.sender();
		Throwable failure = null;
		for (int i = 0; i < 20 && failure == null; i++) {
			CompletionStage<Void> written = harness.begin(sender, i);
			failure = EngineExtension.await(written.handle((done, ex) -> ex));
		}
		assertThat(failure).isInstanceOf(SpillIoException.class);
		assertThat(SpillHarness.failure(harness.begin(sender, 99))).isInstanceOf(SpillIoException.class)
			.hasMessageContaining("already failed");
		assertThat(SpillHarness.failure(sender.finish())).isInstanceOf(SpillIoException.class)
			.hasMessageContaining("already failed");
		assertThat(SpillHarness.failure(spill.receiver().read().collect())).isInstanceOf(SpillIoException.class);
		EngineExtension.await(spill.closed());
		assertThat(harness.manager.statistics().memoryUsed()).isZero();
		ReplaySpill second = harness.spill(place);
		SpillSender secondSender = second.sender();
		for (int i = 0; i < 20; i++) {
			harness.write(secondSender, i);
		}
		EngineExtension.await(secondSender.finish());
		assertThat(harness.read(second.receiver())).hasSize(20);
	}

	@Test
	void whenWritingFailsUnderABlockedProducerThenItIsTold() throws Exception {
		SpillHarness harness = harness();
		Gate gate = new Gate();
		IOException boom = new IOException("boom");
		this.store.before = (call) -> {
			if (call.equals("append 3")) {
				gate.pass();
				throw new UncheckedIOException(boom);
			}
		};
		SpillSender sender = harness.spill(Place.DISK).sender();
		for (int i = 0; i < 3; i++) {
			harness.write(sender, i);
		}
		CompletionStage<Void> blocked = harness.begin(sender, 3);
		assertThat(blocked.toCompletableFuture()).isNotDone();
		gate.open();
		assertThat(SpillHarness.failure(blocked)).isInstanceOf(SpillIoException.class).hasRootCause(boom);
	}

	@Test
	void whenTheEndCannotBeWrittenThenTheSpillFailed() throws Exception {
		SpillHarness harness = harness();
		failAt("finish", new IOException("boom"));
		ReplaySpill spill = harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		harness.write(sender, 1);
		assertThat(SpillHarness.failure(sender.finish())).isInstanceOf(SpillIoException.class);
		assertThat(spill.snapshot().state()).isEqualTo(State.FAILED);
		assertThat(SpillHarness.failure(spill.receiver().written())).isInstanceOf(SpillIoException.class);
	}

	@ParameterizedTest
	@EnumSource
	void closeWithoutFinishIsAnErrorToReaders(Place place) throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(place);
		SpillSender sender = spill.sender();
		RecordBatchStream reader = spill.receiver().read();
		harness.write(sender, 1);
		assertThat(harness.next(reader)).containsExactly(1L);
		CompletionStage<Optional<RecordBatch>> waiting = reader.next();
		assertThat(waiting.toCompletableFuture()).isNotDone();
		sender.close();
		assertThat(SpillHarness.failure(waiting)).isInstanceOf(SpillAbandonedException.class)
			.hasMessageContaining(spill.name());
		reader.close();
	}

	@Test
	void whenTheWritersThreadDiesThenTheSpillIsAbandoned() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(Place.MEMORY);
		CompletionStage<Optional<RecordBatch>> waiting = spill.receiver().read().next();
		assertThat(diesOf(spill.sender())).isTrue();
		expectAbandonedByCollector(waiting);
	}

	/**
	 * In a method of its own: since JDK 19 a thread that has ended still refers to its
	 * task, and the caller's frame would keep the thread.
	 */
	private static boolean diesOf(SpillSender sender) throws InterruptedException {
		AtomicBoolean died = new AtomicBoolean();
		Thread writer = new Thread(() -> {
			throw new AssertionError("The writer's thread dies with " + sender);
		});
		writer.setUncaughtExceptionHandler((thread, failure) -> died.set(failure instanceof AssertionError));
		writer.start();
		writer.join();
		return died.get();
	}

	@Test
	void whenTheSenderIsLostThenTheSpillIsAbandoned() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(Place.DISK);
		CompletionStage<Optional<RecordBatch>> waiting = spill.receiver().read().next();
		spill.sender();
		expectAbandonedByCollector(waiting);
	}

	@Test
	void whenNobodyCanTakeTheSenderThenTheSpillIsAbandoned() throws Exception {
		SpillHarness harness = harness();
		SpillReceiver receiver = harness.spill(Place.MEMORY).receiver();
		expectAbandonedByCollector(receiver.read().next());
	}

	private static void expectAbandonedByCollector(CompletionStage<?> waiting) throws Exception {
		Awaitility.await().until(() -> {
			System.gc();
			return waiting.toCompletableFuture().isDone();
		});
		assertThat(SpillHarness.failure(waiting)).isInstanceOf(SpillAbandonedException.class)
			.hasMessageContaining("lost");
	}

	@Test
	void senderOfAFinishedSpillMayBeLost() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(Place.MEMORY);
		WeakReference<SpillSender> lost = finishAndForget(harness, spill);
		Awaitility.await().until(() -> {
			System.gc();
			return lost.get() == null;
		});
		assertThat(harness.read(spill.receiver())).containsExactly(1L);
	}

	private WeakReference<SpillSender> finishAndForget(SpillHarness harness, ReplaySpill spill) throws Exception {
		SpillSender sender = spill.sender();
		harness.write(sender, 1);
		EngineExtension.await(sender.finish());
		return new WeakReference<>(sender);
	}

	@Test
	void nullIsNoCause() throws Exception {
		SpillSender sender = harness().spill(Place.MEMORY).sender();
		assertThatExceptionOfType(NullPointerException.class).isThrownBy(() -> sender.sendError(null));
		sender.close();
	}

	private void failAt(String call, IOException failure) {
		AtomicBoolean failed = new AtomicBoolean();
		this.store.before = (current) -> {
			if (current.equals(call) && failed.compareAndSet(false, true)) {
				throw new UncheckedIOException(failure);
			}
		};
	}

}
