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

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.stream.DictionaryVersion;
import org.lance.spring.stream.Failures;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whichever allocation fails, readers get the right rows or a typed failure, and nothing
 * is left: each scenario runs once for each of its allocations.
 */
class SpillAllocationTests {

	/**
	 * Two dictionaries, as loading the second one may fail when the first one is there.
	 */
	private static final List<Long> IDS = List.of(7L, 8L);

	private static final Schema SCHEMA = new Schema(List.of(Field.nullable("n", new ArrowType.Int(64, true)),
			encoded("d", IDS.get(0)), encoded("e", IDS.get(1))));

	/**
	 * Some batches fit in, not all.
	 */
	private static final long SOME = 45_000;

	private static final long ALL = 1L << 40;

	/**
	 * The rows of each batch; small ones are packed.
	 */
	private static final int[] ROWS = { 3, 4, 1_100, 2, 1_050 };

	/**
	 * Which of them keeps far more memory alive than it needs.
	 */
	private static final int WASTEFUL = 2;

	/**
	 * Which of them has a dictionary that continues the one before, and which a new one.
	 */
	private static final int DELTA = 1;

	private static final int REPLACEMENT = 3;

	private static final SpillCompression ZSTD = SpillCompression.zstd(1);

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@TempDir
	Path directory;

	private ExecutorService pool;

	@BeforeEach
	void setUp() {
		this.pool = this.engine.pool(1);
	}

	private static Field encoded(String name, long id) {
		DictionaryEncoding encoding = new DictionaryEncoding(id, false, null);
		return new Field(name, new FieldType(true, encoding.getIndexType(), encoding), null);
	}

	static Stream<Arguments> scenarios() {
		return Stream.concat(fewScenarios(),
				Stream.of(Arguments.of(0L, ReadMode.READ, SpillFormat.PLAIN),
						Arguments.of(0L, ReadMode.MAP, new SpillFormat(ZSTD, true)),
						Arguments.of(SOME, ReadMode.MAP, SpillFormat.PLAIN),
						Arguments.of(SOME, ReadMode.MAP, new SpillFormat(ZSTD, false)),
						Arguments.of(SOME, ReadMode.READ, new SpillFormat(SpillCompression.NONE, true))));
	}

	static Stream<Arguments> fewScenarios() {
		return Stream.of(Arguments.of(ALL, ReadMode.READ, SpillFormat.PLAIN),
				Arguments.of(0L, ReadMode.MAP, SpillFormat.PLAIN),
				Arguments.of(SOME, ReadMode.READ, new SpillFormat(ZSTD, true)));
	}

	@ParameterizedTest
	@MethodSource("scenarios")
	void whenOneAllocationOfTheSpillsFailsThenRowsAreRightOrTheFailureIsTyped(long limit, ReadMode mode,
			SpillFormat format) throws Exception {
		failEachOfTheSpills(1, limit, mode, format);
	}

	@ParameterizedTest
	@MethodSource("fewScenarios")
	void whenMemoryIsUsedUpThenRowsAreRightOrTheFailureIsTyped(long limit, ReadMode mode, SpillFormat format)
			throws Exception {
		failEachOfTheSpills(Integer.MAX_VALUE, limit, mode, format);
	}

	private void failEachOfTheSpills(int times, long limit, ReadMode mode, SpillFormat format) throws Exception {
		List<Sample> samples = new ArrayList<>();
		try (Input input = new Input(this.engine.allocator())) {
			for (int i = 0; i < ROWS.length; i++) {
				samples.add(input.sample(i));
			}
			failEach(times,
					(failing) -> new Run(failing, (index) -> samples.get(index).share(), limit, mode, format).run());
		}
		finally {
			samples.forEach((sample) -> sample.batch().close());
		}
	}

	@ParameterizedTest
	@MethodSource("fewScenarios")
	void whenAnyAllocationFailsThenRowsAreRightOrTheFailureIsTyped(long limit, ReadMode mode, SpillFormat format)
			throws Exception {
		failEach(1, (failing) -> {
			try (Input input = new Input(failing.allocator())) {
				new Run(failing, input::sample, limit, mode, format).run();
			}
		});
	}

	private void failEach(int times, ThrowingConsumer<FailingAllocator> scenario) throws Exception {
		boolean failed = true;
		for (int number = 0; failed; number++) {
			try (FailingAllocator failing = new FailingAllocator(this.engine.allocator(), number, times)) {
				scenario.acceptThrows(failing);
				failed = failing.failed();
			}
			catch (Throwable ex) {
				throw new AssertionError("When allocation %d fails: %s".formatted(number, ex), ex);
			}
		}
	}

	private static long number(int batch, int row) {
		return 1_000_000L * batch + row;
	}

	/**
	 * Makes the batches, one after the other.
	 */
	private static final class Input implements AutoCloseable {

		private final BufferAllocator allocator;

		private final List<String> values = new ArrayList<>();

		private final Map<Long, DictionaryVersion> versions = new LinkedHashMap<>();

		Input(BufferAllocator allocator) {
			this.allocator = allocator;
		}

		Sample sample(int index) {
			if (this.values.isEmpty() || index == DELTA || index == REPLACEMENT) {
				change(index);
			}
			int count = ROWS[index];
			int reserved = (index == WASTEFUL) ? 20 * count : count;
			try (VectorSchemaRoot root = VectorSchemaRoot.create(SCHEMA, this.allocator)) {
				BigIntVector numbers = (BigIntVector) root.getVector("n");
				numbers.allocateNew(reserved);
				for (int i = 0; i < count; i++) {
					numbers.set(i, number(index, i));
				}
				for (String name : List.of("d", "e")) {
					IntVector indexes = (IntVector) root.getVector(name);
					indexes.allocateNew(reserved);
					for (int i = 0; i < count; i++) {
						indexes.set(i, i % this.values.size());
					}
				}
				root.setRowCount(count);
				try (ArrowRecordBatch body = new VectorUnloader(root).getRecordBatch()) {
					return new Sample(RecordBatch.seal(SCHEMA, body, this.versions.values(), this.allocator), index,
							List.copyOf(this.values));
				}
			}
		}

		private void change(int index) {
			List<String> added = IntStream.range(0, 3).mapToObj((i) -> "value " + index + "." + i).toList();
			List<DictionaryVersion> changed = new ArrayList<>();
			try {
				for (Long id : IDS) {
					changed.add(dictionary(id, added, (index == DELTA) ? this.versions.get(id) : null));
				}
			}
			catch (OutOfMemoryException ex) {
				changed.forEach(DictionaryVersion::close);
				throw ex;
			}
			if (index != DELTA || this.versions.isEmpty()) {
				this.values.clear();
			}
			this.values.addAll(added);
			close();
			changed.forEach((version) -> this.versions.put(version.id(), version));
		}

		private DictionaryVersion dictionary(long id, List<String> added, DictionaryVersion previous) {
			try (VarCharVector vector = new VarCharVector("values", this.allocator)) {
				vector.allocateNew();
				for (int i = 0; i < added.size(); i++) {
					vector.set(i, added.get(i).getBytes(StandardCharsets.UTF_8));
				}
				vector.setValueCount(added.size());
				try (ArrowRecordBatch body = new VectorUnloader(VectorSchemaRoot.of(vector)).getRecordBatch()) {
					return DictionaryVersion.seal(id, vector.getField(), body, previous, this.allocator);
				}
			}
		}

		@Override
		public void close() {
			this.versions.values().forEach(DictionaryVersion::close);
			this.versions.clear();
		}

	}

	/**
	 * A batch, and what it is made of.
	 *
	 * @param batch the batch
	 * @param index its number
	 * @param values the values of its dictionary
	 */
	private record Sample(RecordBatch batch, int index, List<String> values) {

		Sample share() {
			return new Sample(this.batch.share(), this.index, this.values);
		}

		void check(OpenBatch open) {
			assertThat(open.root().getRowCount()).isEqualTo(ROWS[this.index]);
			BigIntVector numbers = (BigIntVector) open.root().getVector("n");
			for (int i = 0; i < ROWS[this.index]; i++) {
				if (numbers.get(i) != number(this.index, i)) {
					throw new AssertionError("Row %d of batch %d is another one".formatted(i, this.index));
				}
			}
			check(open, "d", IDS.get(0));
			check(open, "e", IDS.get(1));
		}

		private void check(OpenBatch open, String name, long id) {
			VarCharVector dictionary = (VarCharVector) open.dictionaries().lookup(id).getVector();
			List<String> read = IntStream.range(0, dictionary.getValueCount())
				.mapToObj((i) -> new String(dictionary.get(i), StandardCharsets.UTF_8))
				.toList();
			assertThat(read).isEqualTo(this.values);
			IntVector indexes = (IntVector) open.root().getVector(name);
			for (int i = 0; i < ROWS[this.index]; i++) {
				if (indexes.get(i) != i % this.values.size()) {
					throw new AssertionError("Index %d of batch %d is another one".formatted(i, this.index));
				}
			}
		}

	}

	/**
	 * An allocator of which some allocations fail.
	 */
	private static final class FailingAllocator implements AllocationListener, AutoCloseable {

		private final BufferAllocator allocator;

		private final int first;

		private final int times;

		private int count;

		private boolean repaired;

		private FailingAllocator(BufferAllocator parent, int first, int times) {
			this.allocator = parent.newChildAllocator("failing", this, 0, Long.MAX_VALUE);
			this.first = first;
			this.times = times;
		}

		BufferAllocator allocator() {
			return this.allocator;
		}

		@Override
		public synchronized void onPreAllocation(long size) {
			int number = this.count++;
			if (!this.repaired && number >= this.first && number - this.first < this.times) {
				throw new OutOfMemoryException("allocation " + number + " fails");
			}
		}

		synchronized boolean failed() {
			return this.count > this.first;
		}

		/**
		 * Whether it is more than one that fails.
		 */
		boolean lasts() {
			return this.times > 1;
		}

		synchronized void repair() {
			this.repaired = true;
		}

		/**
		 * Fails if anything is left.
		 */
		@Override
		public void close() {
			this.allocator.close();
		}

	}

	/**
	 * One spill that is written and read while something fails.
	 */
	private final class Run {

		private final FailingAllocator failing;

		private final IntFunction<Sample> input;

		private final boolean inMemory;

		private final SpillManager manager;

		private final List<Sample> written = new ArrayList<>();

		Run(FailingAllocator failing, IntFunction<Sample> input, long limit, ReadMode mode, SpillFormat format) {
			this.failing = failing;
			this.input = input;
			this.inMemory = limit == ALL;
			this.manager = SpillManager.builder(failing.allocator(), SpillAllocationTests.this.pool)
				.directories(List.of(SpillAllocationTests.this.directory))
				.memoryLimit(limit)
				.readMode(mode)
				.compression(format.compression())
				.encryption(format.encrypted())
				.build();
		}

		void run() throws Exception {
			try (ReplaySpill spill = this.manager.createReplaySpill(SCHEMA)) {
				CompletionStage<List<RecordBatch>> before = spill.receiver().read().collect();
				CompletionStage<List<RecordBatch>> during = null;
				SpillSender sender = spill.sender();
				for (int i = 0; i < ROWS.length; i++) {
					write(sender, i);
					if (i == ROWS.length / 2) {
						during = spill.receiver().read().collect();
					}
				}
				boolean complete = succeeds(sender.finish());
				boolean failedBefore = this.failing.failed();
				check(before, complete, true);
				check(during, complete, true);
				boolean mayFail = !failedBefore || this.failing.lasts();
				if (!check(spill.receiver().read().collect(), complete, mayFail)) {
					this.failing.repair();
					check(spill.receiver().read().collect(), complete, false);
				}
			}
			finally {
				this.failing.repair();
				close();
			}
		}

		private void write(SpillSender sender, int index) throws Exception {
			Sample sample;
			try {
				sample = this.input.apply(index);
			}
			catch (OutOfMemoryException ex) {
				// It is the caller's allocation that failed.
				return;
			}
			try (RecordBatch batch = sample.batch()) {
				if (succeeds(sender.write(batch))) {
					this.written.add(sample);
				}
			}
		}

		private boolean succeeds(CompletionStage<Void> stage) throws Exception {
			Throwable failure = EngineExtension.await(stage.handle((done, ex) -> Failures.unwrap(ex)));
			checkFailure(failure);
			return failure == null;
		}

		private void checkFailure(Throwable failure) {
			if (failure != null) {
				assertThat(this.inMemory).as("memory of its own is needed").isFalse();
				assertThat(failure).isInstanceOf(SpillIoException.class)
					.hasRootCauseInstanceOf(OutOfMemoryException.class);
			}
		}

		/**
		 * Tells whether a reader got everything; otherwise it failed as it may.
		 */
		private boolean check(CompletionStage<List<RecordBatch>> reader, boolean complete, boolean mayFail)
				throws Exception {
			List<RecordBatch> batches;
			try {
				batches = EngineExtension.await(reader);
			}
			catch (Exception ex) {
				checkFailure(Failures.unwrap(ex));
				assertThat(mayFail || !complete).as("the reader fails although memory is there").isTrue();
				return false;
			}
			try {
				assertThat(complete).as("the spill was finished").isTrue();
				assertThat(batches).hasSameSizeAs(this.written);
				for (int i = 0; i < batches.size(); i++) {
					check(batches.get(i), this.written.get(i));
				}
				return true;
			}
			finally {
				batches.forEach(RecordBatch::close);
			}
		}

		private void check(RecordBatch batch, Sample expected) {
			try (OpenBatch open = open(batch)) {
				expected.check(open);
			}
		}

		private OpenBatch open(RecordBatch batch) {
			BufferAllocator allocator = SpillAllocationTests.this.engine.allocator();
			try {
				return batch.open(allocator);
			}
			catch (OutOfMemoryException ex) {
				// Here it is the caller who allocates, and who may try again.
				this.failing.repair();
				return batch.open(allocator);
			}
		}

		private void close() throws Exception {
			this.manager.close();
			EngineExtension.await(this.manager.closed());
			SpillStatistics left = this.manager.statistics();
			assertThat(left.memoryUsed()).isZero();
			assertThat(left.diskUsed()).isZero();
			assertThat(left.files()).isZero();
			assertThat(left.active()).isZero();
			assertThat(SpillAllocationTests.this.directory).isEmptyDirectory();
			SpillAllocationTests.this.openFiles.check();
		}

	}

}
