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
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.BatchSealer;
import org.lance.spring.stream.DictionaryVersion;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

class SpillMemoryTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	/**
	 * Rows that are too many to be packed.
	 */
	private static final int LARGE = 3000;

	private final FakeStore store = new FakeStore();

	@Test
	void allocationOfSeveralBatchesCountsOnce() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, 1);
		ReplaySpill spill = harness.spill(Place.MEMORY);
		SpillSender sender = spill.sender();
		try (RecordBatch batch = harness.batches.rows(100_000, 1)) {
			for (int i = 0; i < 10; i++) {
				EngineExtension.await(sender.write(batch));
			}
			assertThat(spill.snapshot().memoryBytes()).isBetween(800_000L, 1_100_000L);
		}
		assertThat(harness.manager.statistics().memoryUsed()).isEqualTo(spill.snapshot().memoryBytes());
	}

	@Test
	void dictionaryThatGrowsCountsOnce() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, 1);
		Field values = Field.notNullable("v", new ArrowType.Int(64, true));
		Schema schema = new Schema(List.of(new Field("d", new FieldType(false, new ArrowType.Int(32, true),
				new DictionaryEncoding(1, false, new ArrowType.Int(32, true))), null)));
		ReplaySpill spill = harness.manager.createReplaySpill(schema, SpillOptions.DEFAULTS);
		SpillSender sender = spill.sender();
		Map<Object, Long> allocations = new IdentityHashMap<>();
		DictionaryVersion version = null;
		try (VectorSchemaRoot words = VectorSchemaRoot.create(new Schema(List.of(values)), this.engine.allocator());
				VectorSchemaRoot rows = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			words.allocateNew();
			words.setRowCount(100);
			rows.allocateNew();
			((IntVector) rows.getVector(0)).set(0, 0);
			rows.setRowCount(1);
			for (int i = 0; i < 50; i++) {
				try (ArrowRecordBatch body = new VectorUnloader(words).getRecordBatch();
						ArrowRecordBatch row = new VectorUnloader(rows).getRecordBatch()) {
					DictionaryVersion next = DictionaryVersion.seal(1, values, body, version, this.engine.allocator());
					if (version != null) {
						version.close();
					}
					version = next;
					try (RecordBatch batch = RecordBatch.seal(schema, row, List.of(version), this.engine.allocator())) {
						batch.forEachAllocation(allocations::put);
						EngineExtension.await(sender.write(batch));
						EngineExtension.await(sender.write(batch));
					}
				}
			}
			version.close();
		}
		assertThat(spill.snapshot().state()).isEqualTo(State.IN_MEMORY);
		assertThat(spill.snapshot().memoryBytes())
			.isLessThan(2 * allocations.values().stream().mapToLong(Long::longValue).sum())
			.isBetween(50 * 800L, 50 * 4000L);
		spill.close();
		assertThat(harness.manager.statistics().memoryUsed()).isZero();
	}

	@Test
	void limitIsTheTotalThatStillFits() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, 1);
		long size;
		try (RecordBatch batch = harness.batches.rows(LARGE, 1)) {
			size = batch.memorySize();
		}
		ReplaySpill spill = harness.manager.createReplaySpill(Batches.SCHEMA,
				SpillOptions.DEFAULTS.withMemoryLimit(3 * size));
		SpillSender sender = spill.sender();
		for (int i = 0; i < 3; i++) {
			write(harness, sender, LARGE);
		}
		assertThat(spill.snapshot().state()).isEqualTo(State.IN_MEMORY);
		assertThat(spill.snapshot().memoryBytes()).isEqualTo(3 * size);
		assertThat(this.store.fileCount()).isZero();
		harness.write(sender, 4);
		assertThat(spill.snapshot().state()).isEqualTo(State.ON_DISK);
		assertThat(spill.snapshot().memoryBytes()).isZero();
		assertThat(harness.manager.statistics().memoryUsed()).isZero();
	}

	private static void write(SpillHarness harness, SpillSender sender, int rows) throws Exception {
		try (RecordBatch batch = harness.batches.rows(rows, rows)) {
			EngineExtension.await(sender.write(batch));
		}
	}

	@Test
	void allocationOfSeveralSpillsCountsOnceInTheSharedBudget() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, 1);
		ReplaySpill first = harness.spill(Place.MEMORY);
		ReplaySpill second = harness.spill(Place.MEMORY);
		try (RecordBatch batch = harness.batches.rows(100_000, 1)) {
			EngineExtension.await(first.sender().write(batch));
			EngineExtension.await(second.sender().write(batch));
		}
		assertThat(first.snapshot().memoryBytes()).isEqualTo(second.snapshot().memoryBytes()).isGreaterThan(800_000);
		assertThat(harness.manager.statistics().memoryUsed()).isBetween(800_000L,
				first.snapshot().memoryBytes() + 10_000);
		first.close();
		assertThat(harness.manager.statistics().memoryUsed()).isEqualTo(second.snapshot().memoryBytes());
		second.close();
		assertThat(harness.manager.statistics().memoryUsed()).isZero();
	}

	@Test
	void smallBatchesArePacked() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, 1);
		ReplaySpill spill = harness.spill(Place.MEMORY);
		SpillSender sender = spill.sender();
		List<Long> written = new ArrayList<>();
		long before = this.engine.allocator().getAllocatedMemory();
		for (long i = 0; i < 2_000; i++) {
			harness.write(sender, i);
			written.add(i);
		}
		long held = this.engine.allocator().getAllocatedMemory() - before;
		assertThat(spill.snapshot().state()).isEqualTo(State.IN_MEMORY);
		assertThat(spill.snapshot().memoryBytes() - held).as("heap").isBetween(2_000L, 30 * 2_000L);
		assertThat(held).isLessThan(2_000 * 600);
		EngineExtension.await(sender.finish());
		assertThat(harness.read(spill.receiver())).isEqualTo(written);
	}

	@Test
	void smallAndLargeBatchesInTurnsKeepTheirOrder() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, 1);
		ReplaySpill spill = harness.spill(Place.MEMORY);
		SpillSender sender = spill.sender();
		RecordBatchStream early = spill.receiver().read();
		int[] sizes = { 1, 0, LARGE, 2, 3, LARGE, LARGE, 1, 1, 0, 1, 5, LARGE };
		List<Long> written = new ArrayList<>();
		for (int size : sizes) {
			write(harness, sender, size);
			written.addAll(Collections.nCopies(size, (long) size));
		}
		EngineExtension.await(sender.finish());
		assertThat(harness.read(spill.receiver())).isEqualTo(written);
		List<RecordBatch> batches = EngineExtension.await(early.collect());
		assertThat(batches).extracting(RecordBatch::rowCount)
			.containsExactly(Arrays.stream(sizes).boxed().toArray(Integer[]::new));
		spill.close();
		assertThat(harness.batches.take(batches)).as("valid after the close").isEqualTo(written);
	}

	@Test
	void limitOfZeroWritesEvenAnEmptyBatchToDisk() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, 1);
		ReplaySpill spill = harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		try (RecordBatch batch = harness.batches.rows(0, 0)) {
			EngineExtension.await(sender.write(batch));
		}
		assertThat(spill.snapshot().state()).isEqualTo(State.ON_DISK);
	}

	@Test
	void whenTheSharedBudgetIsUsedUpThenTheNextSpillGoesToDisk() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, this.engine.pool(1), 100_000);
		ReplaySpill first = harness.spill(Place.MEMORY);
		SpillSender firstSender = first.sender();
		ReplaySpill second = harness.spill(Place.MEMORY);
		SpillSender secondSender = second.sender();
		try (RecordBatch batch = harness.batches.rows(8_000, 1)) {
			EngineExtension.await(firstSender.write(batch));
		}
		harness.write(secondSender, 1);
		assertThat(second.snapshot().state()).isEqualTo(State.IN_MEMORY);
		try (RecordBatch batch = harness.batches.rows(8_000, 1)) {
			EngineExtension.await(secondSender.write(batch));
		}
		assertThat(first.snapshot().state()).isEqualTo(State.IN_MEMORY);
		assertThat(second.snapshot().state()).isEqualTo(State.ON_DISK);
		assertThat(harness.manager.statistics().memoryUsed()).isEqualTo(first.snapshot().memoryBytes());
		first.close();
		assertThat(harness.manager.statistics().memoryUsed()).isZero();
		ReplaySpill third = harness.spill(Place.MEMORY);
		try (RecordBatch batch = harness.batches.rows(8_000, 1)) {
			EngineExtension.await(third.sender().write(batch));
		}
		assertThat(third.snapshot().memoryBytes()).isPositive();
	}

	@Test
	void tinySlicesDoNotKeepTheirBatchesAlive() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, 1);
		ReplaySpill spill = harness.manager.createReplaySpill(Batches.SCHEMA,
				SpillOptions.DEFAULTS.withMemoryLimit(10_000_000));
		SpillSender sender = spill.sender();
		writeSlices(sender, 1, 100);
		assertThat(this.engine.allocator().getAllocatedMemory()).isLessThan(100_000)
			.isLessThanOrEqualTo(spill.snapshot().memoryBytes());
		assertThat(spill.snapshot().state()).isEqualTo(State.IN_MEMORY);
		EngineExtension.await(sender.finish());
		assertThat(harness.read(spill.receiver())).hasSize(100).containsOnly(7L);
	}

	@Test
	void slicesOfLessThanHalfDoNotKeepTheirBatchesAlive() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, 1);
		ReplaySpill spill = harness.manager.createReplaySpill(Batches.SCHEMA,
				SpillOptions.DEFAULTS.withMemoryLimit(10_000_000));
		SpillSender sender = spill.sender();
		writeSlices(sender, 12_500, 50);
		assertThat(this.engine.allocator().getAllocatedMemory()).isBetween(5_000_000L, 7_000_000L)
			.isLessThanOrEqualTo(spill.snapshot().memoryBytes());
		assertThat(spill.snapshot().state()).isEqualTo(State.IN_MEMORY);
		EngineExtension.await(sender.finish());
		assertThat(harness.read(spill.receiver())).hasSize(50 * 12_500).containsOnly(7L);
	}

	@Test
	void slicesThatAreNotWorthACopyCountWithWhatTheyKeepAlive() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, 1);
		ReplaySpill spill = harness.manager.createReplaySpill(Batches.SCHEMA,
				SpillOptions.DEFAULTS.withMemoryLimit(10_000_000));
		SpillSender sender = spill.sender();
		writeSlices(sender, 70_000, 1);
		assertThat(spill.snapshot().memoryBytes()).isGreaterThanOrEqualTo(1_000_000);
		writeSlices(sender, 70_000, 7);
		assertThat(spill.snapshot().state()).isEqualTo(State.IN_MEMORY);
		writeSlices(sender, 70_000, 3);
		assertThat(spill.snapshot().state()).isEqualTo(State.ON_DISK);
	}

	@ParameterizedTest
	@MethodSource
	void whenABatchCannotBeCopiedThenItIsGivenBack(Runnable failure) throws Exception {
		try (BufferAllocator broken = allocator(failure);
				SpillManager manager = SpillManager.builder(broken, this.engine.pool(1)).build(this.store)) {
			SpillSender sender = manager.createReplaySpill(Batches.SCHEMA).sender();
			try (RecordBatch slice = slice(LARGE)) {
				assertThat(SpillHarness.failure(sender.write(slice))).hasMessage("broken");
			}
			assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
			try (RecordBatch batch = new Batches(this.engine.allocator()).rows(LARGE, 1)) {
				EngineExtension.await(sender.write(batch));
			}
		}
	}

	static Stream<Runnable> whenABatchCannotBeCopiedThenItIsGivenBack() {
		return Stream.of(() -> {
			throw new IllegalStateException("broken");
		}, () -> {
			throw new StackOverflowError("broken");
		});
	}

	@Test
	void batchThatDoesNotFitIsPackedOnceToFindOut() {
		AtomicInteger allocations = new AtomicInteger();
		try (BufferAllocator counted = allocator(allocations::incrementAndGet);
				RecordBatch batch = new Batches(this.engine.allocator()).of(1)) {
			SpillMemory memory = new SpillMemory(100, new MemoryBudget(Long.MAX_VALUE), counted, Batches.SCHEMA);
			assertThat(memory.tryAdd(batch)).isEqualTo(SpillMemory.Fit.OVER_LIMIT);
		}
		assertThat(allocations).hasValue(1);
	}

	@Test
	void batchThatFitsAloneIsTakenAlsoIfAGrownPageWouldNotFit() {
		SpillMemory one = memory(Long.MAX_VALUE);
		assertThat(add(one)).isEqualTo(SpillMemory.Fit.ADDED);
		SpillMemory two = memory(2 * one.bytes());
		assertThat(add(two)).isEqualTo(SpillMemory.Fit.ADDED);
		assertThat(add(two)).isEqualTo(SpillMemory.Fit.ADDED);
		assertThat(two.bytes()).isEqualTo(2 * one.bytes());
		one.clear().run();
		two.clear().run();
	}

	private SpillMemory memory(long limit) {
		return new SpillMemory(limit, new MemoryBudget(Long.MAX_VALUE), this.engine.allocator(), Batches.SCHEMA);
	}

	private SpillMemory.Fit add(SpillMemory memory) {
		return memory.tryAdd(new Batches(this.engine.allocator()).rows(100, 1));
	}

	private BufferAllocator allocator(Runnable beforeAllocation) {
		return this.engine.allocator().newChildAllocator("watched", new AllocationListener() {

			@Override
			public void onPreAllocation(long size) {
				beforeAllocation.run();
			}

		}, 0, Long.MAX_VALUE);
	}

	private void writeSlices(SpillSender sender, int rows, int count) throws Exception {
		for (int i = 0; i < count; i++) {
			try (RecordBatch slice = slice(rows)) {
				EngineExtension.await(sender.write(slice));
			}
		}
	}

	/**
	 * Rows of a batch of 1 MB, which is kept alive by them.
	 */
	private RecordBatch slice(int rows) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(Batches.SCHEMA, this.engine.allocator())) {
			BigIntVector vector = (BigIntVector) root.getVector(0);
			vector.allocateNew(125_000);
			for (int i = 0; i < rows; i++) {
				vector.set(i, 7);
			}
			root.setRowCount(125_000);
			try (VectorSchemaRoot one = root.slice(0, rows);
					BatchSealer sealer = new BatchSealer(Batches.SCHEMA, this.engine.allocator(),
							BatchSealer.Mode.SHARE)) {
				return sealer.seal(one, null);
			}
		}
	}

}
