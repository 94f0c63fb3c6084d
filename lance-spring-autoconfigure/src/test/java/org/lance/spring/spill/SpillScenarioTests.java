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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.extension.OpaqueType;
import org.apache.arrow.vector.types.Types;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Spills with real files, in memory, switching and on disk.
 */
class SpillScenarioTests {

	@Order(1)
	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@Order(2)
	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@TempDir
	Path directory;

	private SpillHarness harness;

	@BeforeEach
	void setUp() {
		this.harness = harness(this.directory, this.engine.pool(1));
	}

	private SpillHarness harness(Path base, ExecutorService pool) {
		return new SpillHarness(this.engine, new FileSpillStore(() -> base, this.engine.allocator(), ReadMode.MAP),
				pool, 1L << 30);
	}

	private ReplaySpill spill(Schema schema, Place place) {
		return this.harness.manager.createReplaySpill(schema, place.options());
	}

	/**
	 * The batches are where they should be for the test to show something.
	 */
	private static void assertOn(Place place, ReplaySpill spill) {
		assertThat(spill.snapshot().state()).isEqualTo((place == Place.MEMORY) ? State.IN_MEMORY : State.ON_DISK);
	}

	@ParameterizedTest
	@EnumSource
	void rootThatIsReusedDoesNotChangeEarlierBatches(Place place) throws Exception {
		ReplaySpill spill = this.harness.spill(place);
		SpillSender sender = spill.sender();
		try (VectorSchemaRoot root = VectorSchemaRoot.create(Batches.SCHEMA, this.engine.allocator())) {
			BigIntVector vector = (BigIntVector) root.getVector(0);
			for (int i = 0; i < 5; i++) {
				vector.setSafe(0, i);
				vector.setSafe(1, 10 * i);
				root.setRowCount(2);
				try (RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator())) {
					EngineExtension.await(sender.write(batch));
				}
			}
		}
		assertOn(place, spill);
		EngineExtension.await(sender.finish());
		List<RecordBatch> kept = EngineExtension.await(spill.receiver().read().collect());
		assertThat(kept.stream().map(this.harness.batches::take)).containsExactly(List.of(0L, 0L), List.of(1L, 10L),
				List.of(2L, 20L), List.of(3L, 30L), List.of(4L, 40L));
	}

	@Test
	void filesOfAManagerMayKeepMoreWindowsMappedThanEachHas() throws Exception {
		int mappings = MappedWindow.open();
		ByteBudget kept = WindowPolicy.DEFAULT.kept();
		long before = kept.used();
		assumeThat(kept.limit() - before).as("a sixteenth of the memory").isGreaterThan(74_000_000L);
		SpillManager manager = SpillManager.builder(this.engine.allocator(), this.engine.pool(1))
			.directories(List.of(this.directory))
			.memoryLimit(0)
			.build();
		ReplaySpill spill = manager.createReplaySpill(Batches.SCHEMA);
		SpillSender sender = spill.sender();
		try (RecordBatch large = zeros(9_000_000)) {
			for (int i = 0; i <= FileWindows.MAX_MAPPED; i++) {
				EngineExtension.await(sender.write(large));
			}
		}
		EngineExtension.await(sender.finish());
		try (RecordBatchStream reader = spill.receiver().read()) {
			for (int i = 0; i <= FileWindows.MAX_MAPPED; i++) {
				EngineExtension.await(reader.next()).orElseThrow().close();
			}
		}
		assertThat(MappedWindow.open() - mappings).isEqualTo(FileWindows.MAX_MAPPED + 1);
		assertThat(kept.used() - before).isBetween(72_000_000L, 74_000_000L);
		manager.close();
		EngineExtension.await(manager.closed());
		assertThat(MappedWindow.open()).isEqualTo(mappings);
		assertThat(kept.used()).isEqualTo(before);
	}

	private RecordBatch zeros(int rows) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(Batches.SCHEMA, this.engine.allocator())) {
			((BigIntVector) root.getVector(0)).allocateNew(rows);
			root.setRowCount(rows);
			return RecordBatch.copyOf(root, null, this.engine.allocator());
		}
	}

	@ParameterizedTest
	@EnumSource
	void producersAllocatorMayBeClosedAfterTheWrite(Place place) throws Exception {
		ReplaySpill spill = this.harness.spill(place);
		SpillSender sender = spill.sender();
		try (BufferAllocator foreign = new RootAllocator();
				VectorSchemaRoot root = VectorSchemaRoot.create(Batches.SCHEMA, foreign)) {
			BigIntVector vector = (BigIntVector) root.getVector(0);
			vector.setSafe(0, 42);
			root.setRowCount(1);
			try (RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator())) {
				EngineExtension.await(sender.write(batch));
			}
		}
		EngineExtension.await(sender.finish());
		assertThat(this.harness.read(spill.receiver())).containsExactly(42L);
	}

	@ParameterizedTest
	@EnumSource
	void replaysHaveTheDeclaredSchema(Place place) throws Exception {
		ArrowType type = new ArrowType.Int(64, true);
		Schema strict = new Schema(List.of(new Field("n", FieldType.notNullable(type), null)));
		ReplaySpill spill = spill(Batches.SCHEMA, place);
		SpillSender sender = spill.sender();
		write(sender, strict, 1L);
		write(sender, Batches.SCHEMA, null, 2L);
		for (int i = 0; i < 5; i++) {
			write(sender, strict, 3L);
		}
		assertOn(place, spill);
		EngineExtension.await(sender.finish());
		RecordBatchStream reader = spill.receiver().read();
		assertThat(reader.schema()).isEqualTo(Batches.SCHEMA);
		List<RecordBatch> batches = EngineExtension.await(reader.collect());
		assertThat(batches).extracting(RecordBatch::schema).containsOnly(Batches.SCHEMA);
		List<Object> values = new ArrayList<>();
		for (RecordBatch batch : batches) {
			try (batch; OpenBatch open = batch.open(this.engine.allocator())) {
				for (int i = 0; i < open.root().getRowCount(); i++) {
					values.add(open.root().getVector(0).getObject(i));
				}
			}
		}
		assertThat(values).containsExactly(1L, null, 2L, 3L, 3L, 3L, 3L, 3L);
	}

	private void write(SpillSender sender, Schema schema, Long... values) throws Exception {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			BigIntVector vector = (BigIntVector) root.getVector(0);
			vector.allocateNew(values.length);
			for (int i = 0; i < values.length; i++) {
				if (values[i] != null) {
					vector.set(i, values[i]);
				}
				else {
					vector.setNull(i);
				}
			}
			root.setRowCount(values.length);
			try (RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator())) {
				EngineExtension.await(sender.write(batch));
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void typeDetailsAreKept(Place place) throws Exception {
		Field number = new Field("n", new FieldType(true, new ArrowType.Int(64, true), null, Map.of("unit", "m")),
				null);
		Field opaque = new Field("o",
				FieldType.nullable(new OpaqueType(Types.MinorType.BIT.getType(), "flag", "example")), null);
		Schema schema = new Schema(List.of(number, opaque), Map.of("origin", "test", "empty", ""));
		ReplaySpill spill = spill(schema, place);
		SpillSender sender = spill.sender();
		for (int i = 0; i < 5; i++) {
			try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
				((BigIntVector) root.getVector("n")).setSafe(0, i);
				((BitVector) ((org.apache.arrow.vector.extension.OpaqueVector) root.getVector("o"))
					.getUnderlyingVector()).setSafe(0, i % 2);
				root.setRowCount(1);
				try (RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator())) {
					EngineExtension.await(sender.write(batch));
				}
			}
		}
		assertOn(place, spill);
		EngineExtension.await(sender.finish());
		RecordBatchStream reader = spill.receiver().read();
		assertThat(reader.schema()).isEqualTo(schema);
		List<Object> values = new ArrayList<>();
		for (RecordBatch batch : EngineExtension.await(reader.collect())) {
			try (batch; OpenBatch open = batch.open(this.engine.allocator())) {
				assertThat(open.root().getSchema()).isEqualTo(schema);
				assertThat(open.root().getSchema().getCustomMetadata()).isEqualTo(schema.getCustomMetadata());
				values.add(open.root().getVector("n").getObject(0));
				values.add(open.root().getVector("o").getObject(0));
			}
		}
		assertThat(values).containsExactly(0L, false, 1L, true, 2L, false, 3L, true, 4L, false);
	}

	@ParameterizedTest
	@EnumSource
	void batchesWithoutColumnsKeepTheirRowCount(Place place) throws Exception {
		Schema schema = new Schema(List.of());
		ReplaySpill spill = spill(schema, place);
		SpillSender sender = spill.sender();
		for (int rows : new int[] { 7, 3 }) {
			try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
				root.setRowCount(rows);
				try (RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator())) {
					EngineExtension.await(sender.write(batch));
				}
			}
		}
		EngineExtension.await(sender.finish());
		List<RecordBatch> batches = EngineExtension.await(spill.receiver().read().collect());
		assertThat(batches).extracting(RecordBatch::rowCount).containsExactly(7, 3);
		batches.forEach(RecordBatch::close);
		assertThat(spill.snapshot().rows()).isEqualTo(10);
		assertThat(spill.snapshot().state()).isEqualTo(State.FINISHED);
	}

	@Test
	void limitFarBelowOneBatchWorksByDisk() throws Exception {
		ReplaySpill spill = this.harness.manager.createReplaySpill(Batches.SCHEMA,
				SpillOptions.DEFAULTS.withMemoryLimit(1));
		List<CompletionStage<List<RecordBatch>>> readers = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			readers.add(spill.receiver().read().collect());
		}
		SpillSender sender = spill.sender();
		for (int i = 0; i < 100; i++) {
			this.harness.write(sender, i);
			assertOn(Place.DISK, spill);
		}
		EngineExtension.await(sender.finish());
		assertThat(spill.snapshot().memoryBytes()).isZero();
		for (CompletionStage<List<RecordBatch>> reader : readers) {
			assertThat(this.harness.batches.take(EngineExtension.await(reader))).hasSize(100).isSorted();
		}
	}

	@Test
	void manyDiskReadersInTurnsFinishOnOneThread() throws Exception {
		for (int count : new int[] { 2, 200 }) {
			ReplaySpill spill = this.harness.spill(Place.DISK);
			SpillSender sender = spill.sender();
			List<RecordBatchStream> readers = new ArrayList<>();
			for (int i = 0; i < count; i++) {
				readers.add(spill.receiver().read());
			}
			for (int turn = 0; turn < 5; turn++) {
				this.harness.write(sender, turn);
				for (RecordBatchStream reader : readers) {
					assertThat(this.harness.next(reader)).containsExactly((long) turn);
				}
			}
			List<CompletionStage<Optional<RecordBatch>>> ends = readers.stream().map(RecordBatchStream::next).toList();
			EngineExtension.await(sender.finish());
			for (CompletionStage<Optional<RecordBatch>> end : ends) {
				assertThat(EngineExtension.await(end)).isEmpty();
			}
			spill.close();
		}
	}

	@Test
	void oneWriterAndManyReadersAtOnceFinishOnOneThread() throws Exception {
		ReplaySpill spill = this.harness.spill(Place.DISK);
		List<CompletionStage<List<RecordBatch>>> readers = new ArrayList<>();
		for (int i = 0; i < 200; i++) {
			readers.add(spill.receiver().read().collect());
		}
		SpillSender sender = spill.sender();
		for (int i = 0; i < 20; i++) {
			this.harness.write(sender, i);
		}
		EngineExtension.await(sender.finish());
		for (CompletionStage<List<RecordBatch>> reader : readers) {
			assertThat(this.harness.batches.take(EngineExtension.await(reader))).hasSize(20).isSorted();
		}
	}

	@ParameterizedTest
	@EnumSource
	void sourceOfASpillFeedsAnotherSpill(Place place) throws Exception {
		ReplaySpill first = this.harness.spill(place);
		SpillSender sender = first.sender();
		StreamingWriteSource source = first.receiver().source();
		SpillReceiver second = this.harness.manager.spill(source, place.options());
		SpillReceiver third = this.harness.manager.spill(second.source(), place.options());
		for (int i = 0; i < 50; i++) {
			this.harness.write(sender, i);
		}
		EngineExtension.await(sender.finish());
		assertThat(this.harness.read(third)).hasSize(50).isSorted();
		assertThat(EngineExtension.await(second.written()).rows()).isEqualTo(50);
	}

	@Test
	void whenReaderCancelsAndOwnerClosesThenTheFileIsGone() throws Exception {
		ReplaySpill spill = this.harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		for (int i = 0; i < 5; i++) {
			this.harness.write(sender, i);
		}
		RecordBatchStream reader = spill.receiver().read();
		this.harness.next(reader);
		assertThat(files()).hasSize(1);
		reader.close();
		spill.close();
		EngineExtension.await(spill.closed());
		assertThat(files()).isEmpty();
		this.harness.manager.close();
		EngineExtension.await(this.harness.manager.closed());
		assertThat(this.directory).isEmptyDirectory();
	}

	private List<Path> files() throws IOException {
		try (Stream<Path> files = Files.walk(this.directory)) {
			return files.filter((path) -> path.toString().endsWith(OwnedDirectory.FILE_SUFFIX)).toList();
		}
	}

	@Test
	void failedSpillLeavesNoEndMarkerBehind() throws Exception {
		ReplaySpill spill = this.harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		for (int i = 0; i < 3; i++) {
			this.harness.write(sender, i);
		}
		Path file = files().get(0);
		Path copy = this.directory.resolve("copy");
		AtomicReference<byte[]> bytes = new AtomicReference<>();
		Files.createLink(copy, file);
		sender.sendError(new IOException("boom"));
		EngineExtension.await(spill.closed());
		bytes.set(Files.readAllBytes(copy));
		Files.delete(copy);
		assertThat(file).doesNotExist();
		byte[] all = bytes.get();
		assertThat(List.of(all[all.length - 8], all[all.length - 7], all[all.length - 6], all[all.length - 5],
				all[all.length - 4], all[all.length - 3], all[all.length - 2], all[all.length - 1]))
			.as("the last 8 bytes")
			.isNotEqualTo(List.of((byte) -1, (byte) -1, (byte) -1, (byte) -1, (byte) 0, (byte) 0, (byte) 0, (byte) 0));
	}

	@Test
	void whenTheDirectoryIsRemovedThenTheNextSpillMakesItAgain() throws Exception {
		Path base = this.directory.resolve("base");
		SpillHarness own = harness(base, this.engine.pool(1));
		ReplaySpill open = own.spill(Place.DISK);
		SpillSender openSender = open.sender();
		own.write(openSender, 1);
		RecordBatchStream running = open.receiver().read();
		assertThat(own.next(running)).containsExactly(1L);
		deleteAll(base);
		CompletionStage<Void> write = own.begin(openSender, 2);
		Throwable failure = EngineExtension.await(write.handle((done, ex) -> ex));
		if (failure != null) {
			assertThat(failure).isInstanceOf(SpillGoneException.class).hasMessageContaining(open.name());
		}
		Object next = EngineExtension.await(running.next().handle((item, ex) -> (ex != null) ? ex : item));
		if (next instanceof Optional<?> item) {
			assertThat(own.batches.take((RecordBatch) item.orElseThrow())).containsExactly(2L);
		}
		else {
			assertThat(next).isInstanceOf(SpillGoneException.class);
		}
		ReplaySpill second = own.spill(Place.DISK);
		SpillSender secondSender = second.sender();
		own.write(secondSender, 3);
		EngineExtension.await(secondSender.finish());
		assertThat(own.read(second.receiver())).containsExactly(3L);
		running.close();
	}

	@Test
	void whenAFileIsPutInThePlaceOfTheDirectoryThenItsSpillsAreGoneAndTakeNoSpace() throws Exception {
		Path base = this.directory.resolve("base");
		SpillHarness own = harness(base, this.engine.pool(1));
		ReplaySpill written = own.spill(Place.DISK);
		SpillSender sender = written.sender();
		own.write(sender, 1);
		ReplaySpill finished = own.spill(Place.DISK);
		SpillSender finishedSender = finished.sender();
		own.write(finishedSender, 2);
		EngineExtension.await(finishedSender.finish());
		deleteAll(base);
		Files.writeString(base, "in the way");
		assertThat(SpillHarness.failure(own.begin(sender, 3))).isInstanceOf(SpillGoneException.class);
		assertThat(SpillHarness.failure(finished.receiver().read().next())).isInstanceOf(SpillGoneException.class);
		finished.close();
		EngineExtension.await(finished.closed());
		EngineExtension.await(written.closed());
		assertThat(own.manager.statistics().diskUsed()).isZero();
	}

	private static void deleteAll(Path base) throws IOException {
		try (Stream<Path> paths = Files.walk(base)) {
			for (Path path : paths.sorted(java.util.Comparator.reverseOrder()).toList()) {
				Files.delete(path);
			}
		}
	}

	@Test
	void badDirectoryBreaksOnlyWhatNeedsIt() throws Exception {
		Path file = Files.writeString(this.directory.resolve("file"), "in the way");
		Path base = file.resolve("spills");
		SpillHarness own = harness(base, this.engine.pool(1));
		EngineExtension.await(own.manager.reclaimed());
		ReplaySpill inMemory = own.spill(Place.MEMORY);
		SpillSender sender = inMemory.sender();
		own.write(sender, 1);
		EngineExtension.await(sender.finish());
		assertThat(own.read(inMemory.receiver())).containsExactly(1L);
		ReplaySpill overflowing = own.spill(Place.DISK);
		assertThat(SpillHarness.failure(own.begin(overflowing.sender(), 1))).isInstanceOf(SpillIoException.class)
			.hasMessageContaining("lance.spill.directories");
		Files.delete(file);
		ReplaySpill repaired = own.spill(Place.DISK);
		SpillSender repairedSender = repaired.sender();
		own.write(repairedSender, 2);
		EngineExtension.await(repairedSender.finish());
		assertThat(repaired.snapshot().diskBytes()).isPositive();
		assertThat(own.read(repaired.receiver())).containsExactly(2L);
	}

	@Test
	void whenClosedUnderTwoReadersThenTheyEndTypedAndTheDirectoryIsEmpty() throws Exception {
		ExecutorService pool = this.engine.pool(1);
		SpillHarness own = harness(this.directory, pool);
		ReplaySpill spill = own.spill(Place.DISK);
		SpillSender sender = spill.sender();
		for (int i = 0; i < 10; i++) {
			own.write(sender, i);
		}
		EngineExtension.await(sender.finish());
		RecordBatchStream fast = spill.receiver().read();
		RecordBatchStream slow = spill.receiver().read();
		own.next(fast);
		own.next(slow);
		CompletionStage<Void> drained = own.manager.drain(Duration.ofMillis(300));
		assertThat(own.batches.take(EngineExtension.await(fast.collect()))).hasSize(9);
		EngineExtension.await(drained);
		assertThat(SpillHarness.failure(slow.next())).isInstanceOf(SpillClosedException.class)
			.isNotInstanceOf(RejectedExecutionException.class);
		pool.shutdown();
		own.manager.close();
		EngineExtension.await(own.manager.closed());
		assertThat(SpillHarness.failure(spill.receiver().read().next())).isInstanceOf(SpillClosedException.class);
		try (Stream<Path> left = Files.list(this.directory)) {
			assertThat(left).hasSizeLessThanOrEqualTo(0);
		}
		slow.close();
	}

	@ParameterizedTest
	@EnumSource(ReadMode.class)
	void interruptedThreadFailsAtMostItsOwnReader(ReadMode mode) throws Exception {
		ExecutorService pool = this.engine.pool(1);
		boolean[] interrupt = new boolean[1];
		SpillManager manager = SpillManager.builder(this.engine.allocator(), (task) -> pool.execute(() -> {
			if (interrupt[0]) {
				interrupt[0] = false;
				Thread.currentThread().interrupt();
			}
			task.run();
			Thread.interrupted();
		}), pool::isShutdown).directories(List.of(this.directory)).readMode(mode).build();
		this.engine.closeLater(() -> {
			manager.close();
			EngineExtension.await(manager.closed());
		});
		ReplaySpill spill = manager.createReplaySpill(Batches.SCHEMA, Place.DISK.options());
		SpillSender sender = spill.sender();
		for (int i = 0; i < 5; i++) {
			this.harness.write(sender, i);
		}
		RecordBatchStream a = spill.receiver().read();
		RecordBatchStream b = spill.receiver().read();
		RecordBatchStream c = spill.receiver().read();
		assertThat(this.harness.next(b)).containsExactly(0L);
		interrupt[0] = true;
		Object outcome = EngineExtension.await(a.next().handle((item, ex) -> (ex != null) ? ex : item));
		if (outcome instanceof Optional<?> item) {
			assertThat(this.harness.batches.take((RecordBatch) item.orElseThrow())).containsExactly(0L);
		}
		else {
			assertThat(outcome).isInstanceOf(SpillIoException.class);
		}
		interrupt[0] = true;
		this.harness.write(sender, 5);
		EngineExtension.await(sender.finish());
		assertThat(this.harness.batches.take(EngineExtension.await(b.collect()))).containsExactly(1L, 2L, 3L, 4L, 5L);
		assertThat(this.harness.batches.take(EngineExtension.await(c.collect()))).hasSize(6);
		a.close();
	}

	@Test
	void handOffKeepsEveryAllocatorAtZero() throws Exception {
		ReplaySpill spill = this.harness.spill(Place.MEMORY);
		CompletableFuture<List<Long>> seen = new CompletableFuture<>();
		try (BufferAllocator readers = new RootAllocator()) {
			SpillSender sender = spill.sender();
			this.harness.write(sender, 1, 2);
			EngineExtension.await(sender.finish());
			try (RecordBatchStream reader = spill.receiver().read();
					RecordBatch batch = EngineExtension.await(reader.next()).orElseThrow();
					OpenBatch open = batch.open(readers)) {
				spill.close();
				batch.close();
				seen.complete(List.of((Long) open.root().getVector(0).getObject(0),
						(Long) open.root().getVector(0).getObject(1)));
			}
			assertThat(readers.getAllocatedMemory()).isZero();
		}
		assertThat(seen.join()).containsExactly(1L, 2L);
	}

}
