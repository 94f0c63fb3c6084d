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
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import org.apache.arrow.vector.BigIntVector;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Writers, readers and closers that race each other.
 */
class SpillRaceTests {

	@Order(1)
	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@Order(2)
	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@TempDir
	Path directory;

	@ParameterizedTest
	@CsvSource({ "MEMORY, 1", "MEMORY, 2", "DISK, 1", "DISK, 2" })
	void readerIsNeverForgottenAtTheEnd(Place place, int threads) throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, new FakeStore(), threads);
		ExecutorService writer = this.engine.pool(1);
		try (RecordBatch batch = harness.batches.of(1)) {
			for (int i = 0; i < 10_000; i++) {
				try (ReplaySpill spill = harness.spill(place)) {
					SpillSender sender = spill.sender();
					CompletableFuture<Void> written = CompletableFuture.runAsync(() -> sender.write(batch)
						.thenCompose((done) -> sender.finish())
						.toCompletableFuture()
						.join(), writer);
					AtomicLong rows = new AtomicLong();
					EngineExtension.await(spill.receiver().read().forEach((item) -> {
						rows.addAndGet(item.rowCount());
						item.close();
					}));
					assertThat(rows).hasValue(1);
					EngineExtension.await(written);
				}
			}
		}
	}

	@ParameterizedTest
	@EnumSource(ReadMode.class)
	void readersInATightLoopSeeOnlyWholeBatches(ReadMode mode) throws Exception {
		SpillHarness harness = new SpillHarness(this.engine,
				new FileSpillStore(() -> this.directory, this.engine.allocator(), mode), 2);
		ExecutorService writer = this.engine.pool(1);
		List<RecordBatch> batches = IntStream.range(0, 4).mapToObj((i) -> harness.batches.rows(10_000, i)).toList();
		for (int run = 0; run < 500; run++) {
			try (ReplaySpill spill = harness.manager.createReplaySpill(Batches.SCHEMA,
					SpillOptions.DEFAULTS.withMemoryLimit((run % 2) * 200_000))) {
				SpillSender sender = spill.sender();
				CompletableFuture<Void> written = CompletableFuture.runAsync(() -> {
					for (RecordBatch batch : batches) {
						sender.write(batch).toCompletableFuture().join();
					}
					sender.finish().toCompletableFuture().join();
				}, writer);
				AtomicLong next = new AtomicLong();
				EngineExtension.await(spill.receiver().read().forEach((batch) -> check(batch, next.getAndIncrement())));
				assertThat(next).hasValue(4);
				EngineExtension.await(written);
			}
		}
		batches.forEach(RecordBatch::close);
	}

	private void check(RecordBatch batch, long value) {
		try (batch; OpenBatch open = batch.open(this.engine.allocator())) {
			BigIntVector vector = (BigIntVector) open.root().getVector(0);
			for (int i = 0; i < 10_000; i++) {
				if (vector.get(i) != value) {
					throw new AssertionError("Expected %d but row %d is %d".formatted(value, i, vector.get(i)));
				}
			}
		}
	}

	@Test
	void whateverHappensEverythingEndsAndIsGivenBack() throws Exception {
		FakeStore store = new FakeStore();
		SpillHarness harness = new SpillHarness(this.engine, store, this.engine.pool(2), 20_000);
		ExecutorService users = this.engine.pool(3);
		long seed = new Random().nextLong();
		Random random = new Random(seed);
		try (RecordBatch batch = harness.batches.rows(100, 1)) {
			for (int run = 0; run < 2_000; run++) {
				chaos(harness, store, users, random, batch, "seed " + seed + ", run " + run);
			}
		}
	}

	private void chaos(SpillHarness harness, FakeStore store, ExecutorService users, Random random, RecordBatch batch,
			String name) throws Exception {
		int failing = random.nextInt(60);
		AtomicLong calls = new AtomicLong();
		store.before = (call) -> {
			if (calls.incrementAndGet() == failing && !call.equals("delete")) {
				throw new IllegalStateException("boom");
			}
		};
		ReplaySpill spill = harness.manager.createReplaySpill(Batches.SCHEMA,
				SpillOptions.DEFAULTS.withMemoryLimit(random.nextInt(10_000)));
		SpillSender sender = spill.sender();
		int writes = random.nextInt(10);
		int ending = random.nextInt(5);
		List<CompletableFuture<?>> done = new ArrayList<>();
		done.add(CompletableFuture.runAsync(() -> {
			for (int i = 0; i < writes; i++) {
				sender.write(batch).handle((value, failure) -> null).toCompletableFuture().join();
			}
			switch (ending) {
				case 0 -> sender.close();
				case 1 -> sender.sendError(new IllegalStateException("boom"));
				default -> sender.finish().handle((value, failure) -> null).toCompletableFuture().join();
			}
		}, users));
		for (int i = 0; i < 2; i++) {
			int reads = random.nextInt(12);
			done.add(CompletableFuture.runAsync(() -> {
				RecordBatchStream reader = spill.receiver().read().fuse();
				try (reader) {
					for (int j = 0; j < reads; j++) {
						CompletionStage<Void> step = reader.next()
							.thenAccept((item) -> item.ifPresent(RecordBatch::close));
						if (j < reads - 1) {
							step.handle((value, failure) -> null).toCompletableFuture().join();
						}
					}
				}
				reader.closed().toCompletableFuture().join();
			}, users));
		}
		if (random.nextInt(3) == 0) {
			Thread.yield();
			spill.close();
		}
		CompletableFuture.allOf(done.toArray(CompletableFuture[]::new))
			.orTimeout(5, TimeUnit.SECONDS)
			.exceptionally((failure) -> {
				throw new AssertionError(name + " hangs: " + spill.snapshot(), failure);
			})
			.join();
		spill.close();
		EngineExtension.await(spill.closed());
		assertThat(spill.snapshot().readers()).as(name).isZero();
		assertThat(harness.manager.statistics().memoryUsed()).as(name).isZero();
	}

}
