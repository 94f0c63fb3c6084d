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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;

import org.lance.spring.stream.Failures;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A manager with what tests do with it. Closing checks that nothing is left.
 */
final class SpillHarness implements AutoCloseable {

	final Batches batches;

	final ExecutorService pool;

	final SpillManager manager;

	private final List<Object> kept = new ArrayList<>();

	SpillHarness(EngineExtension engine, SpillFile.Store store, int threads) {
		this(engine, store, engine.pool(threads), SpillManager.Builder.DEFAULT_TOTAL_MEMORY_LIMIT);
	}

	SpillHarness(EngineExtension engine, SpillFile.Store store, ExecutorService pool, long totalMemoryLimit) {
		this(engine, store, pool, totalMemoryLimit, UnusableDirectory.FAIL);
	}

	SpillHarness(EngineExtension engine, SpillFile.Store store, ExecutorService pool, long totalMemoryLimit,
			UnusableDirectory unusableDirectory) {
		this(engine, store, pool, totalMemoryLimit, unusableDirectory, false);
	}

	SpillHarness(EngineExtension engine, SpillFile.Store store, ExecutorService pool, long totalMemoryLimit,
			UnusableDirectory unusableDirectory, boolean creationTraces) {
		this.batches = new Batches(engine.allocator());
		this.pool = pool;
		this.manager = SpillManager.builder(engine.allocator(), this.pool)
			.totalMemoryLimit(totalMemoryLimit)
			.onUnusableDirectory(unusableDirectory)
			.creationTraces(creationTraces)
			.build(store);
		engine.closeLater(this);
	}

	ReplaySpill spill(Place place) {
		return this.manager.createReplaySpill(Batches.SCHEMA, place.options());
	}

	/**
	 * Keeps a spill or sender reachable: those that nobody can reach any more are closed.
	 */
	<T> T keep(T used) {
		this.kept.add(used);
		return used;
	}

	/**
	 * Writes a batch of one value and waits.
	 */
	void write(SpillSender sender, long... values) throws Exception {
		EngineExtension.await(begin(sender, values));
	}

	CompletionStage<Void> begin(SpillSender sender, long... values) {
		try (RecordBatch batch = this.batches.of(values)) {
			return sender.write(batch);
		}
	}

	/**
	 * Begins to write a batch of that many rows, all of the same value.
	 */
	CompletionStage<Void> beginRows(SpillSender sender, int rows, long value) {
		try (RecordBatch batch = this.batches.rows(rows, value)) {
			return sender.write(batch);
		}
	}

	/**
	 * Reads everything.
	 */
	List<Long> read(SpillReceiver receiver) throws Exception {
		return this.batches.take(EngineExtension.await(receiver.read().collect()));
	}

	/**
	 * Reads the next batch, or returns {@code null} at the end.
	 */
	List<Long> next(RecordBatchStream reader) throws Exception {
		return taken(EngineExtension.await(reader.next()));
	}

	List<Long> taken(Optional<RecordBatch> item) {
		return item.map(this.batches::take).orElse(null);
	}

	/**
	 * Waits for a stage that must fail.
	 */
	static Throwable failure(CompletionStage<?> stage) throws Exception {
		Throwable failure = EngineExtension.await(stage.handle((value, ex) -> ex));
		assertThat(failure).as("failure").isNotNull();
		return Failures.unwrap(failure);
	}

	@Override
	public void close() throws Exception {
		this.manager.close();
		EngineExtension.await(this.manager.closed());
		SpillStatistics left = this.manager.statistics();
		assertThat(this.manager.spills()).isEmpty();
		assertThat(left.active()).isZero();
		assertThat(left.memoryUsed()).isZero();
		assertThat(left.diskUsed()).isZero();
		assertThat(left.files()).isZero();
	}

}
