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

package org.lance.spring.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.spill.ReplaySpill;
import org.lance.spring.spill.SpillOptions;
import org.lance.spring.spill.SpillSender;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Gets a batch of 8 columns from a spill in memory.
 *
 * @since 0.1.0
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class HandOffBenchmark {

	private static final int BATCHES = 1_000;

	private static final int COLUMNS = 8;

	private static final int ROWS = 100;

	/**
	 * How a batch is handed to its reader.
	 */
	@Param
	public Way way;

	private final AtomicLong allocations = new AtomicLong();

	private final List<ArrowRecordBatch> plain = new ArrayList<>();

	private Directory directory;

	private RootAllocator allocator;

	private Engine engine;

	private ReplaySpill spill;

	private SpillSender sender;

	private VectorSchemaRoot target;

	private VectorLoader loader;

	/**
	 * Fills the spill.
	 */
	@Setup
	public void open() {
		this.directory = new Directory();
		this.allocator = new RootAllocator(new AllocationListener() {

			@Override
			public void onAllocation(long size) {
				HandOffBenchmark.this.allocations.incrementAndGet();
			}

		}, Long.MAX_VALUE, (size) -> size);
		this.engine = new Engine(this.allocator, this.directory.path());
		Schema schema = schema();
		this.spill = this.engine.manager()
			.createReplaySpill(schema, SpillOptions.DEFAULTS.withMemoryLimit(Long.MAX_VALUE));
		this.sender = this.spill.sender();
		for (int i = 0; i < BATCHES; i++) {
			add(schema);
		}
		Engine.await(this.sender.finish());
		this.target = VectorSchemaRoot.create(schema, this.allocator);
		this.loader = new VectorLoader(this.target);
		this.allocations.set(0);
	}

	private static Schema schema() {
		List<Field> fields = new ArrayList<>();
		for (int i = 0; i < COLUMNS; i++) {
			fields.add(Field.nullable("column" + i, new ArrowType.Int(Long.SIZE, true)));
		}
		return new Schema(fields);
	}

	private void add(Schema schema) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.allocator)) {
			for (FieldVector vector : root.getFieldVectors()) {
				((BigIntVector) vector).allocateNew(ROWS);
				for (int row = 0; row < ROWS; row++) {
					((BigIntVector) vector).set(row, row);
				}
			}
			root.setRowCount(ROWS);
			if (this.way.isPlain()) {
				this.plain.add(new VectorUnloader(root).getRecordBatch());
				return;
			}
			try (RecordBatch batch = RecordBatch.copyOf(root, null, this.allocator)) {
				Engine.await(this.sender.write(batch));
			}
		}
	}

	/**
	 * Gets all batches.
	 * @return the number of rows
	 * @throws IOException if a reader fails
	 */
	@Benchmark
	@OperationsPerInvocation(BATCHES)
	public long handOff() throws IOException {
		return switch (this.way) {
			case LOADER -> load();
			case NEW_VECTORS -> loadNew();
			case BATCH -> forEach((batch) -> batch.rowCount());
			case OPEN -> forEach(this::open);
			case READER -> read(this.spill.receiver().read());
		};
	}

	private long load() {
		long rows = 0;
		for (ArrowRecordBatch batch : this.plain) {
			this.loader.load(batch);
			rows += this.target.getRowCount();
		}
		return rows;
	}

	private long loadNew() {
		long rows = 0;
		for (ArrowRecordBatch batch : this.plain) {
			try (VectorSchemaRoot root = VectorSchemaRoot.create(this.target.getSchema(), this.allocator)) {
				new VectorLoader(root).load(batch);
				rows += root.getRowCount();
			}
		}
		return rows;
	}

	private long open(RecordBatch batch) {
		try (OpenBatch open = batch.open(this.allocator)) {
			return open.root().getRowCount();
		}
	}

	private long forEach(Action action) {
		long[] rows = new long[1];
		Engine.await(this.spill.receiver().read().forEach((batch) -> {
			try (batch) {
				rows[0] += action.rows(batch);
			}
		}));
		return rows[0];
	}

	private long read(RecordBatchStream stream) throws IOException {
		try (ArrowReader reader = stream.toReader(this.allocator)) {
			long rows = 0;
			while (reader.loadNextBatch()) {
				rows += reader.getVectorSchemaRoot().getRowCount();
			}
			return rows;
		}
	}

	/**
	 * Makes sure that nothing was allocated outside of the heap.
	 */
	@TearDown(Level.Iteration)
	public void check() {
		if (this.allocations.get() != 0) {
			throw new IllegalStateException(this.allocations + " off-heap allocations for a hand-off");
		}
	}

	/**
	 * Gives everything back.
	 */
	@TearDown
	public void close() {
		this.plain.forEach(ArrowRecordBatch::close);
		this.target.close();
		Engine.close(this.spill);
		this.engine.close();
		this.allocator.close();
		this.directory.close();
	}

	/**
	 * A way to get a batch.
	 *
	 * @since 0.1.0
	 */
	public enum Way {

		/**
		 * Without a spill: Arrow's {@code VectorLoader} loads a batch that is at hand
		 * into vectors that are used again.
		 */
		LOADER,

		/**
		 * Without a spill: Arrow's {@code VectorLoader} loads a batch that is at hand
		 * into new vectors.
		 */
		NEW_VECTORS,

		/**
		 * The handle of the batch, not opened.
		 */
		BATCH,

		/**
		 * The batch, opened as new vectors.
		 */
		OPEN,

		/**
		 * The view as an Arrow reader, which uses its vectors again.
		 */
		READER;

		boolean isPlain() {
			return this == LOADER || this == NEW_VECTORS;
		}

	}

	private interface Action {

		long rows(RecordBatch batch);

	}

}
