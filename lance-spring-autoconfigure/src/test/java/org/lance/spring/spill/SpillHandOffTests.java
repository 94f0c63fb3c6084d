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

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.ArrowTypes;
import org.lance.spring.testing.CellComparison;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.GeneratedBody;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Batches that Arrow's own ways of handing over lose, leak or disturb: without rows, of
 * nested types, and more than fit into memory.
 */
class SpillHandOffTests {

	private static final int EMPTY = 5_000;

	@Order(1)
	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@Order(2)
	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@TempDir
	Path directory;

	private SpillHarness harness(ReadMode mode, int threads) {
		return new SpillHarness(this.engine, new FileSpillStore(() -> this.directory, this.engine.allocator(), mode),
				threads);
	}

	@ParameterizedTest
	@EnumSource
	void batchesWithoutRowsMayBeSkipped(Place place) throws Exception {
		// Batches that were read have an offset, and so memory, whatever Arrow's version.
		SpillHarness harness = harness(ReadMode.READ, 1);
		Schema schema = new Schema(List.of(Field.nullable("text", ArrowType.Utf8.INSTANCE)));
		ReplaySpill origin = harness.manager.createReplaySpill(schema, Place.DISK.options());
		SpillSender sender = origin.sender();
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			for (int i = 0; i < 1000; i++) {
				try (RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator())) {
					EngineExtension.await(sender.write(batch));
				}
			}
		}
		EngineExtension.await(sender.finish());
		SpillReceiver spill = harness.manager.spill(origin.receiver().source(), place.options());
		AtomicInteger batches = new AtomicInteger();
		EngineExtension.await(spill.read().forEach((batch) -> {
			batches.incrementAndGet();
			batch.close();
		}));
		assertThat(batches).hasValue(1000);
		RecordBatchStream skipped = spill.read();
		EngineExtension.await(skipped.next()).orElseThrow().close();
		skipped.close();
		spill.close();
		origin.close();
		EngineExtension.await(spill.closed());
		EngineExtension.await(origin.closed());
		assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
	}

	/**
	 * All vectors without memory refer to one empty buffer, which Arrow writes to.
	 */
	@Test
	void batchesWithoutRowsDontDisturbEachOther() throws Exception {
		Field list = ArrowTypes.field("list", ArrowType.List.INSTANCE, ArrowTypes.field("item", ArrowTypes.INT32));
		Field nulls = ArrowTypes.field("nulls", ArrowType.List.INSTANCE,
				ArrowTypes.field("item", ArrowType.Null.INSTANCE));
		Field number = ArrowTypes.field("number", ArrowTypes.INT32);
		ExecutorService threads = this.engine.pool(3);
		List<CompletableFuture<Void>> done = new ArrayList<>();
		FileSpillStore store = new FileSpillStore(() -> this.directory, this.engine.allocator(), ReadMode.READ);
		this.engine.closeLater(store::close);
		for (Field field : List.of(list, nulls, number)) {
			done.add(CompletableFuture.runAsync(() -> writeEmpty(store, new Schema(List.of(field))), threads));
		}
		for (CompletableFuture<Void> one : done) {
			one.get(60, TimeUnit.SECONDS);
		}
	}

	private void writeEmpty(FileSpillStore store, Schema schema) {
		SpillFile file = store.create("empty", schema, Map.of(), SpillFormat.PLAIN);
		try {
			for (int i = 0; i < EMPTY; i++) {
				try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator());
						RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator())) {
					file.append(batch);
				}
				if (i % 100 == 0) {
					try (RecordBatch batch = file.read(i, Verification.ALWAYS);
							OpenBatch open = batch.open(this.engine.allocator())) {
						assertThat(open.root().getRowCount()).isZero();
						assertThat(open.root().getVector(0).getValueCount()).isZero();
					}
				}
			}
			file.finish();
			assertThat(file.batches()).isEqualTo(EMPTY);
		}
		finally {
			file.delete();
		}
	}

	@ParameterizedTest
	@EnumSource
	void valuesOfNestedTypesPassFromSpillToSpill(Place place) throws Exception {
		SpillHarness harness = harness(ReadMode.MAP, 1);
		for (Field field : ArrowTypes.nested()) {
			Schema schema = new Schema(List.of(field));
			List<List<Object>> truth;
			ReplaySpill first = harness.manager.createReplaySpill(schema, place.options());
			SpillSender sender = first.sender();
			try (GeneratedBody body = GeneratedBody.of(List.of(field), 50, this.engine.allocator(), 3, 0.2);
					VectorSchemaRoot root = body.root()) {
				truth = CellComparison.cells(root, null);
				for (int i = 0; i < 3; i++) {
					try (RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator())) {
						EngineExtension.await(sender.write(batch));
					}
				}
			}
			EngineExtension.await(sender.finish());
			SpillReceiver second = harness.manager.spill(first.receiver().source(), place.options());
			SpillReceiver third = harness.manager.spill(second.source(), place.options());
			for (SpillReceiver receiver : List.of(first.receiver(), second, third)) {
				List<RecordBatch> batches = EngineExtension.await(receiver.read().collect());
				assertThat(batches).hasSize(3);
				for (RecordBatch batch : batches) {
					try (batch; OpenBatch open = batch.open(this.engine.allocator())) {
						assertThat(CellComparison.cells(open.root(), null)).as(field.getName()).isEqualTo(truth);
					}
				}
			}
			third.close();
			second.close();
			first.close();
		}
	}

	/**
	 * Counts a value, and closes the batch.
	 */
	private int countOf(RecordBatch batch, long value) {
		int count = 0;
		try (batch; OpenBatch open = batch.open(this.engine.allocator())) {
			BigIntVector vector = (BigIntVector) open.root().getVector(0);
			for (int i = 0; i < vector.getValueCount(); i++) {
				count += (vector.get(i) == value) ? 1 : 0;
			}
		}
		return count;
	}

	@ParameterizedTest
	@EnumSource
	void readersOfMoreThanFitsIntoMemoryStayWithinTheAllocator(ReadMode mode) throws Exception {
		long limit = 16L << 20;
		int rows = 1 << 18;
		int count = 64;
		SpillHarness harness = harness(mode, 2);
		ReplaySpill spill = harness.manager.createReplaySpill(Batches.SCHEMA,
				SpillOptions.DEFAULTS.withMemoryLimit(4 << 20));
		SpillSender sender = spill.sender();
		this.engine.allocator().setLimit(limit);
		for (int i = 0; i < count; i++) {
			try (RecordBatch batch = harness.batches.rows(rows, i)) {
				EngineExtension.await(sender.write(batch));
			}
		}
		EngineExtension.await(sender.finish());
		assertThat(spill.snapshot().diskBytes()).isGreaterThan(8 * limit);
		List<AtomicInteger> read = new ArrayList<>();
		List<CompletionStage<Void>> ends = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			AtomicInteger next = new AtomicInteger();
			read.add(next);
			ends.add(spill.receiver().read().forEach((batch) -> {
				long value = next.getAndIncrement();
				assertThat(countOf(batch, value)).isEqualTo(rows);
			}));
		}
		for (CompletionStage<Void> end : ends) {
			end.toCompletableFuture().get(60, TimeUnit.SECONDS);
		}
		assertThat(read).allSatisfy((next) -> assertThat(next).hasValue(count));
		assertThat(this.engine.allocator().getPeakMemoryAllocation()).isLessThanOrEqualTo(limit);
	}

}
