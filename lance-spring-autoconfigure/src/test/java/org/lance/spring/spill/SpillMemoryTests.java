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
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

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
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.BatchSealer;
import org.lance.spring.stream.DictionaryVersion;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

class SpillMemoryTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

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
			.isEqualTo(allocations.values().stream().mapToLong(Long::longValue).sum())
			.isBetween(50 * 800L, 50 * 4000L);
		spill.close();
		assertThat(harness.manager.statistics().memoryUsed()).isZero();
	}

	@Test
	void limitIsTheTotalThatStillFits() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, 1);
		long size;
		try (RecordBatch batch = harness.batches.of(1)) {
			size = batch.memorySize();
		}
		ReplaySpill spill = harness.manager.createReplaySpill(Batches.SCHEMA,
				SpillOptions.DEFAULTS.withMemoryLimit(3 * size));
		SpillSender sender = spill.sender();
		for (int i = 0; i < 3; i++) {
			harness.write(sender, i);
		}
		assertThat(spill.snapshot().state()).isEqualTo(State.IN_MEMORY);
		assertThat(spill.snapshot().memoryBytes()).isEqualTo(3 * size);
		assertThat(this.store.fileCount()).isZero();
		harness.write(sender, 4);
		assertThat(spill.snapshot().state()).isEqualTo(State.ON_DISK);
		assertThat(spill.snapshot().memoryBytes()).isZero();
		assertThat(harness.manager.statistics().memoryUsed()).isZero();
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
	void tinySlicesCountWithWhatTheyPin() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, 1);
		ReplaySpill spill = harness.manager.createReplaySpill(Batches.SCHEMA,
				SpillOptions.DEFAULTS.withMemoryLimit(10_000_000));
		SpillSender sender = spill.sender();
		int before = 0;
		List<Long> reported = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			try (RecordBatch slice = slice()) {
				EngineExtension.await(sender.write(slice));
			}
			if (this.store.fileCount() == 0) {
				before++;
				reported.add(spill.snapshot().memoryBytes());
			}
		}
		assertThat(before).isBetween(8, 10);
		assertThat(reported.get(0)).isGreaterThanOrEqualTo(1_000_000L);
		assertThat(spill.snapshot().state()).isEqualTo(State.ON_DISK);
		EngineExtension.await(sender.finish());
		assertThat(harness.read(spill.receiver())).hasSize(100).containsOnly(7L);
	}

	/**
	 * One row of a batch of 1 MB, which is kept alive by it.
	 */
	private RecordBatch slice() {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(Batches.SCHEMA, this.engine.allocator())) {
			BigIntVector vector = (BigIntVector) root.getVector(0);
			vector.allocateNew(125_000);
			vector.set(0, 7);
			root.setRowCount(125_000);
			try (VectorSchemaRoot one = root.slice(0, 1);
					BatchSealer sealer = new BatchSealer(Batches.SCHEMA, this.engine.allocator(),
							BatchSealer.Mode.SHARE)) {
				return sealer.seal(one, null);
			}
		}
	}

}
