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
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who leaves memory when it is short, and what happens where the disk is no way out.
 */
@ExtendWith(OutputCaptureExtension.class)
class SpillRoomTests {

	/**
	 * About 64 kB each.
	 */
	private static final int ROWS = 8_000;

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private final FakeStore store = new FakeStore();

	private SpillHarness harness(int threads, long totalMemoryLimit) {
		return new SpillHarness(this.engine, this.store, this.engine.pool(threads), totalMemoryLimit);
	}

	private SpillHarness inMemoryIfNeedBe(long totalMemoryLimit) {
		return new SpillHarness(this.engine, this.store, this.engine.pool(1), totalMemoryLimit,
				UnusableDirectory.MEMORY);
	}

	private void failAt(String failing, String detail) {
		this.store.before = (call) -> {
			if (call.startsWith(failing)) {
				throw new SpillIoException("spill", detail, null);
			}
		};
	}

	/**
	 * Writes a batch for each value.
	 */
	private static SpillSender fill(SpillHarness harness, ReplaySpill spill, long... values) throws Exception {
		SpillSender sender = spill.sender();
		for (long value : values) {
			write(harness, sender, ROWS, value);
		}
		return sender;
	}

	private static void write(SpillHarness harness, SpillSender sender, int rows, long value) throws Exception {
		EngineExtension.await(harness.beginRows(sender, rows, value));
	}

	@Test
	void whenTheSharedBudgetIsShortThenTheSpillThatHoldsMostMakesRoom() throws Exception {
		SpillHarness harness = harness(1, 200_000);
		ReplaySpill large = harness.spill(Place.MEMORY);
		SpillSender largeSender = fill(harness, large, 1, 2);
		RecordBatchStream reader = large.receiver().read();
		assertThat(harness.next(reader)).hasSize(ROWS).containsOnly(1L);
		ReplaySpill small = harness.spill(Place.MEMORY);
		SpillSender smallSender = fill(harness, small, 3);
		assertThat(large.snapshot().state()).isEqualTo(State.IN_MEMORY);
		write(harness, smallSender, ROWS / 2, 4);
		assertThat(large.snapshot().state()).isEqualTo(State.ON_DISK);
		assertThat(large.snapshot().memoryBytes()).isZero();
		assertThat(small.snapshot().state()).isEqualTo(State.IN_MEMORY);
		assertThat(harness.manager.statistics().memoryUsed()).isEqualTo(small.snapshot().memoryBytes());
		write(harness, largeSender, 1, 5);
		EngineExtension.await(largeSender.finish());
		assertThat(harness.next(reader)).as("keeps its place").hasSize(ROWS).containsOnly(2L);
		assertThat(harness.next(reader)).containsExactly(5L);
		assertThat(harness.next(reader)).isNull();
	}

	@Test
	void finishedSpillMakesRoomAndStaysFinished() throws Exception {
		SpillHarness harness = harness(1, 200_000);
		ReplaySpill finished = harness.spill(Place.MEMORY);
		SpillSender sender = fill(harness, finished, 1, 2);
		EngineExtension.await(sender.finish());
		ReplaySpill next = harness.spill(Place.MEMORY);
		SpillSender nextSender = fill(harness, next, 3);
		write(harness, nextSender, ROWS / 2, 3);
		assertThat(finished.snapshot().state()).isEqualTo(State.FINISHED);
		assertThat(finished.snapshot().memoryBytes()).isZero();
		assertThat(finished.snapshot().diskBytes()).isPositive();
		assertThat(next.snapshot().state()).isEqualTo(State.IN_MEMORY);
		assertThat(this.store.file(0).finished).as("end marker").isTrue();
		assertThat(harness.read(finished.receiver())).hasSize(2 * ROWS);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2 })
	void callsOfTheSenderWaitWhileItsSpillMakesRoom(int threads) throws Exception {
		SpillHarness harness = harness(threads, 200_000);
		ReplaySpill large = harness.spill(Place.MEMORY);
		SpillSender largeSender = fill(harness, large, 1, 2);
		ReplaySpill small = harness.spill(Place.MEMORY);
		SpillSender smallSender = fill(harness, small, 3);
		Gate gate = this.store.holdUp("create");
		CompletionStage<Void> smallWrite = harness.beginRows(smallSender, ROWS / 2, 4);
		gate.awaitArrival();
		assertThat(large.snapshot().state()).isEqualTo(State.SWITCHING);
		CompletionStage<Void> largeWrite = harness.begin(largeSender, 5);
		assertThat(smallWrite.toCompletableFuture()).isNotDone();
		assertThat(largeWrite.toCompletableFuture()).isNotDone();
		assertThat(SpillHarness.failure(harness.begin(largeSender, 6))).isInstanceOf(IllegalStateException.class);
		gate.open();
		EngineExtension.await(smallWrite);
		EngineExtension.await(largeWrite);
		EngineExtension.await(largeSender.finish());
		List<Long> expected = new ArrayList<>(Collections.nCopies(ROWS, 1L));
		expected.addAll(Collections.nCopies(ROWS, 2L));
		expected.add(5L);
		assertThat(harness.read(large.receiver())).isEqualTo(expected);
		assertThat(large.snapshot().memoryBytes()).isZero();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2 })
	void finishWaitsWhileItsSpillMakesRoom(int threads) throws Exception {
		SpillHarness harness = harness(threads, 200_000);
		ReplaySpill large = harness.spill(Place.MEMORY);
		SpillSender largeSender = fill(harness, large, 1, 2);
		Gate gate = this.store.holdUp("create");
		ReplaySpill small = harness.spill(Place.MEMORY);
		SpillSender smallSender = fill(harness, small, 3);
		CompletionStage<Void> smallWrite = harness.beginRows(smallSender, ROWS / 2, 4);
		gate.awaitArrival();
		CompletionStage<Void> finish = largeSender.finish();
		assertThat(finish.toCompletableFuture()).isNotDone();
		gate.open();
		EngineExtension.await(finish);
		EngineExtension.await(smallWrite);
		assertThat(this.store.file(0).finished).isTrue();
		assertThat(harness.read(large.receiver())).hasSize(2 * ROWS);
		small.close();
	}

	@Test
	void whenTheMoveFailsThenNobodyIsHarmed() throws Exception {
		SpillHarness harness = harness(1, 200_000);
		ReplaySpill large = harness.spill(Place.MEMORY);
		SpillSender largeSender = fill(harness, large, 1, 2);
		ReplaySpill small = harness.spill(Place.MEMORY);
		SpillSender smallSender = fill(harness, small, 3);
		AtomicInteger appends = new AtomicInteger();
		this.store.before = (call) -> {
			if (call.equals("append 1") && appends.getAndIncrement() == 0) {
				throw new IllegalStateException("bad disk");
			}
		};
		write(harness, smallSender, ROWS / 2, 4);
		assertThat(large.snapshot().state()).isEqualTo(State.IN_MEMORY);
		assertThat(large.snapshot().diskBytes()).isZero();
		assertThat(this.store.file(0).deleted).as("the half file").isTrue();
		assertThat(small.snapshot().state()).as("goes itself").isEqualTo(State.ON_DISK);
		assertThat(harness.manager.statistics().spilled()).isOne();
		write(harness, largeSender, 1, 5);
		EngineExtension.await(largeSender.finish());
		assertThat(harness.read(large.receiver())).hasSize(2 * ROWS + 1);
		EngineExtension.await(smallSender.finish());
		assertThat(harness.read(small.receiver())).hasSize(ROWS + ROWS / 2);
		assertThat(harness.manager.statistics().failures()).allSatisfy((type, count) -> assertThat(count).isZero());
	}

	@Test
	void spillThatWaitsForRoomAndIsMovedItselfWritesItsBatchOnce() throws Exception {
		SpillHarness harness = harness(3, 380_000);
		ReplaySpill first = harness.spill(Place.MEMORY);
		SpillSender firstSender = first.sender();
		write(harness, firstSender, 3 * ROWS, 1);
		ReplaySpill waiting = harness.spill(Place.MEMORY);
		SpillSender sender = fill(harness, waiting, 2);
		Gate firstMove = new Gate();
		Gate append = new Gate();
		AtomicInteger creations = new AtomicInteger();
		this.store.before = (call) -> {
			if (call.equals("create") && creations.getAndIncrement() == 0) {
				firstMove.pass();
			}
			else if (call.equals("append 1")) {
				append.pass();
			}
		};
		CompletionStage<Void> written = harness.beginRows(sender, ROWS, 3);
		firstMove.awaitArrival();
		assertThat(written.toCompletableFuture()).as("waits for the first one to move").isNotDone();
		CompletionStage<Void> moved = core(harness, first).moveToDisk();
		core(harness, waiting).moveToDisk();
		append.awaitArrival();
		firstMove.open();
		EngineExtension.await(moved);
		append.open();
		EngineExtension.await(written);
		EngineExtension.await(sender.finish());
		List<Long> expected = new ArrayList<>(Collections.nCopies(ROWS, 2L));
		expected.addAll(Collections.nCopies(ROWS, 3L));
		assertThat(harness.read(waiting.receiver())).isEqualTo(expected);
		first.close();
	}

	private static SpillCore core(SpillHarness harness, ReplaySpill spill) {
		return harness.manager.cores()
			.stream()
			.filter((core) -> core.name().equals(spill.name()))
			.findFirst()
			.orElseThrow();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void closingEitherSpillInTheMiddleOfAMoveLeavesNothing(boolean mover) throws Exception {
		SpillHarness harness = harness(1, 200_000);
		ReplaySpill large = harness.spill(Place.MEMORY);
		SpillSender largeSender = fill(harness, large, 1, 2);
		ReplaySpill small = harness.spill(Place.MEMORY);
		SpillSender smallSender = fill(harness, small, 3);
		Gate gate = this.store.holdUp("create");
		CompletionStage<Void> smallWrite = harness.beginRows(smallSender, ROWS / 2, 4);
		gate.awaitArrival();
		CompletionStage<Void> largeWrite = harness.begin(largeSender, 5);
		ReplaySpill closed = mover ? large : small;
		closed.close();
		CompletionStage<Void> failed = mover ? largeWrite : smallWrite;
		assertThat(SpillHarness.failure(failed)).isInstanceOf(SpillClosedException.class);
		gate.open();
		EngineExtension.await(mover ? smallWrite : largeWrite);
		EngineExtension.await(closed.closed());
		assertThat(closed.snapshot().memoryBytes()).isZero();
		assertThat(closed.snapshot().diskBytes()).isZero();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 8 })
	void manySpillsWithLittleMemoryLoseNothingAndStayWithinTheBudget(int threads) throws Exception {
		long limit = 300_000;
		SpillHarness harness = harness(threads, limit);
		Random random = new Random(threads);
		List<CompletableFuture<List<Long>>> outcomes = new ArrayList<>();
		List<List<Long>> expected = new ArrayList<>();
		for (int i = 0; i < 12; i++) {
			ReplaySpill spill = harness.spill(Place.MEMORY);
			List<Integer> sizes = random.ints(30, 0, 6_000).boxed().toList();
			List<Long> values = new ArrayList<>();
			sizes.forEach((size) -> values.addAll(Collections.nCopies(size, (long) size)));
			expected.add(values);
			outcomes.add(spill.receiver().read().collect().thenApply(harness.batches::take).toCompletableFuture());
			CompletableFuture<Void> written = new CompletableFuture<>();
			writeAll(harness, spill.sender(), sizes, 0, limit, written);
			outcomes
				.add(written.thenCompose((done) -> spill.receiver().read().collect()).thenApply(harness.batches::take));
		}
		for (int i = 0; i < outcomes.size(); i++) {
			assertThat(EngineExtension.await(outcomes.get(i))).isEqualTo(expected.get(i / 2));
		}
		assertThat(harness.manager.statistics().memoryUsed()).isBetween(0L, limit);
	}

	private static void writeAll(SpillHarness harness, SpillSender sender, List<Integer> sizes, int index, long limit,
			CompletableFuture<Void> written) {
		if (harness.manager.statistics().memoryUsed() > limit) {
			written.completeExceptionally(new AssertionError("The budget is exceeded"));
		}
		else if (index == sizes.size()) {
			sender.finish().thenRun(() -> written.complete(null));
		}
		else {
			int size = sizes.get(index);
			harness.beginRows(sender, size, size).whenComplete((done, failure) -> {
				if (failure != null) {
					written.completeExceptionally(failure);
				}
				else {
					writeAll(harness, sender, sizes, index + 1, limit, written);
				}
			});
		}
	}

	@Test
	void spillThatMayNotGoToDiskIsRejectedAtItsLimit() throws Exception {
		SpillHarness harness = harness(1, 1 << 30);
		ReplaySpill spill = harness.manager.createReplaySpill(Batches.SCHEMA,
				SpillOptions.DEFAULTS.withMemoryLimit(100_000).withMode(SpillMode.FAIL));
		SpillSender sender = spill.sender();
		RecordBatchStream reader = spill.receiver().read();
		write(harness, sender, ROWS, 1);
		assertThat(SpillHarness.failure(harness.beginRows(sender, ROWS, 2))).isInstanceOf(SpillRejectedException.class)
			.hasMessageContaining("100000 bytes")
			.hasMessageContaining("lance.spill.memory-limit")
			.hasMessageContaining("lance.spill.mode");
		assertThat(SpillHarness.failure(reader.next())).isInstanceOf(SpillRejectedException.class);
		assertThat(SpillHarness.failure(sender.finish())).isInstanceOf(SpillRejectedException.class);
		EngineExtension.await(spill.closed());
		assertThat(this.store.fileCount()).isZero();
		assertThat(harness.manager.statistics().failures()).containsEntry("rejected", 1L);
	}

	@Test
	void spillThatMayNotGoToDiskLetsOthersMakeRoom() throws Exception {
		SpillHarness harness = harness(1, 150_000);
		ReplaySpill other = harness.spill(Place.MEMORY);
		write(harness, other.sender(), ROWS / 2, 1);
		ReplaySpill spill = harness.manager.createReplaySpill(Batches.SCHEMA,
				SpillOptions.DEFAULTS.withMode(SpillMode.FAIL));
		SpillSender sender = fill(harness, spill, 2, 3);
		assertThat(other.snapshot().state()).isEqualTo(State.ON_DISK);
		assertThat(SpillHarness.failure(harness.beginRows(sender, ROWS, 2))).isInstanceOf(SpillRejectedException.class)
			.hasMessageContaining("lance.spill.total-memory-limit");
	}

	@Test
	void spillThatMayNotGoToDiskIsNotMoved() throws Exception {
		SpillHarness harness = harness(1, 200_000);
		ReplaySpill fixed = harness.manager.createReplaySpill(Batches.SCHEMA,
				SpillOptions.DEFAULTS.withMode(SpillMode.FAIL));
		SpillSender sender = fill(harness, fixed, 1, 2);
		ReplaySpill other = harness.spill(Place.MEMORY);
		SpillSender otherSender = fill(harness, other, 3);
		write(harness, otherSender, ROWS / 2, 4);
		assertThat(fixed.snapshot().state()).isEqualTo(State.IN_MEMORY);
		assertThat(other.snapshot().state()).isEqualTo(State.ON_DISK);
	}

	@Test
	void whenNoDirectoryIsUsableThenASpillMayStayInMemory(CapturedOutput output) throws Exception {
		SpillHarness harness = inMemoryIfNeedBe(1 << 20);
		AtomicInteger creations = new AtomicInteger();
		this.store.before = (call) -> {
			if (call.equals("create") && creations.incrementAndGet() <= 3) {
				throw new SpillIoException("spill", "no file can be created in /nowhere", null);
			}
		};
		ReplaySpill spill = harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		RecordBatchStream reader = spill.receiver().read();
		harness.write(sender, 1);
		harness.write(sender, 2);
		assertThat(spill.snapshot().state()).isEqualTo(State.IN_MEMORY);
		assertThat(harness.next(reader)).containsExactly(1L);
		try (ReplaySpill other = harness.spill(Place.DISK)) {
			harness.write(other.sender(), 9);
		}
		assertThat(output).containsOnlyOnce("stays in memory beyond its limit");
		assertThat(output).contains("/nowhere");
		harness.write(sender, 3);
		assertThat(spill.snapshot().state()).as("after the repair").isEqualTo(State.ON_DISK);
		EngineExtension.await(sender.finish());
		assertThat(harness.next(reader)).containsExactly(2L);
		assertThat(harness.read(spill.receiver())).containsExactly(1L, 2L, 3L);
		assertThat(harness.manager.statistics().failures()).allSatisfy((type, count) -> assertThat(count).isZero());
	}

	@Test
	void whenNoDirectoryIsUsableThenTheSharedBudgetStillHolds() throws Exception {
		SpillHarness harness = inMemoryIfNeedBe(100_000);
		failAt("create", "no file can be created in /nowhere");
		ReplaySpill spill = harness.spill(Place.DISK);
		SpillSender sender = fill(harness, spill, 1);
		assertThat(SpillHarness.failure(harness.beginRows(sender, ROWS, 2))).isInstanceOf(SpillIoException.class)
			.hasMessageContaining("/nowhere");
		assertThat(SpillHarness.failure(spill.receiver().read().next())).isInstanceOf(SpillIoException.class);
	}

	@Test
	void whenTheFileWasMadeButCannotBeWrittenThenTheSpillFails() throws Exception {
		SpillHarness harness = inMemoryIfNeedBe(1 << 20);
		ReplaySpill spill = harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		failAt("append", "bad disk");
		assertThat(SpillHarness.failure(harness.begin(sender, 2))).isInstanceOf(SpillIoException.class);
		assertThat(spill.snapshot().state()).isEqualTo(State.FAILED);
	}

	@Test
	void whenTheDiskFailsLaterThenTheSpillFails() throws Exception {
		SpillHarness harness = inMemoryIfNeedBe(1 << 20);
		ReplaySpill spill = harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		harness.write(sender, 1);
		failAt("append", "bad disk");
		assertThat(SpillHarness.failure(harness.begin(sender, 2))).isInstanceOf(SpillIoException.class);
		assertThat(spill.snapshot().state()).isEqualTo(State.FAILED);
	}

}
