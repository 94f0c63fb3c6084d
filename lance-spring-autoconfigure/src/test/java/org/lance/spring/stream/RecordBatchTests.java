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

package org.lance.spring.stream;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.extension.OpaqueType;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.testing.ArrowTypes;
import org.lance.spring.testing.CellComparison;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.GeneratedBody;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class RecordBatchTests {

	private static final int ROWS = 37;

	private static final DictionaryProvider NONE = new DictionaryProvider.MapDictionaryProvider();

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	static List<Field> allTypes() {
		List<Field> fields = new ArrayList<>(ArrowTypes.all());
		fields.add(ArrowTypes.field("opaque", new OpaqueType(ArrowTypes.UTF8, "text", "somebody")));
		fields.add(ArrowTypes.field("opaques", ArrowType.List.INSTANCE, fields.get(fields.size() - 1)));
		return fields;
	}

	@ParameterizedTest
	@MethodSource("allTypes")
	void whenSealedThenAnyRootReadsTheSameAlsoAfterTheSourceIsGone(Field field) {
		for (BatchSealer.Mode mode : BatchSealer.Mode.values()) {
			for (boolean foreign : new boolean[] { false, true }) {
				BufferAllocator source = foreign ? new RootAllocator()
						: this.engine.allocator().newChildAllocator("source", 0, Long.MAX_VALUE);
				List<List<Object>> truth;
				RecordBatch batch;
				try (GeneratedBody body = GeneratedBody.of(List.of(field), ROWS, source, 7, 0.3);
						VectorSchemaRoot root = body.root();
						BatchSealer sealer = new BatchSealer(root.getSchema(), this.engine.allocator(), mode)) {
					truth = CellComparison.cells(root, NONE);
					batch = sealer.seal(root, null);
				}
				// What is shared belongs to the engine's allocator by now.
				source.close();
				RecordBatch shared = batch.share();
				try (batch; RootAllocator reader = new RootAllocator(); OpenBatch open = batch.open(reader)) {
					assertThat(CellComparison.cells(open.root(), open.dictionaries())).isEqualTo(truth);
					assertThat(reader.getAllocatedMemory()).as("charged to the reader").isZero();
				}
				try (RootAllocator reader = new RootAllocator(); VectorSchemaRoot copy = shared.copyRoot(reader)) {
					shared.close();
					assertThat(CellComparison.cells(copy, NONE)).isEqualTo(truth);
				}
			}
		}
	}

	@ParameterizedTest
	@MethodSource("allTypes")
	void whenHandlesAreClosedInAnyOrderThenTheLastReaderKeepsTheMemory(Field field) {
		try (GeneratedBody body = GeneratedBody.of(List.of(field), ROWS, this.engine.allocator(), 7, 0.3)) {
			List<List<Object>> truth;
			try (VectorSchemaRoot root = body.root()) {
				truth = CellComparison.cells(root, NONE);
			}
			Schema schema = new Schema(List.of(field));
			RecordBatch batch = RecordBatch.seal(schema, body.body(), List.of(), this.engine.allocator());
			RecordBatch second = batch.share();
			OpenBatch first = batch.open(this.engine.allocator());
			batch.close();
			batch.close();
			OpenBatch last = second.open(this.engine.allocator());
			second.close();
			first.close();
			first.close();
			assertThat(CellComparison.cells(last.root(), last.dictionaries())).isEqualTo(truth);
			last.close();
		}
	}

	@Test
	void whenUsedAfterCloseThenItIsAnExceptionAndNoCrash() {
		RecordBatch batch = numbers(3);
		batch.close();
		assertThat(batch.isClosed()).isTrue();
		assertThatIllegalStateException().isThrownBy(batch::share).withMessageContaining("closed");
		assertThatIllegalStateException().isThrownBy(batch::body);
		assertThatIllegalStateException().isThrownBy(batch::dictionaries);
		assertThatIllegalStateException().isThrownBy(() -> batch.open(this.engine.allocator()));
		assertThatIllegalStateException().isThrownBy(() -> batch.copyRoot(this.engine.allocator()));
		assertThat(batch.rowCount()).isEqualTo(3);
		assertThat(batch).hasToString("record batch of 3 rows, 1 columns, closed");
	}

	@Test
	void whenOpenedAndClosedByManyThreadsThenEachReadsRightOrIsRefused() throws Exception {
		ExecutorService pool = this.engine.pool(8);
		for (int round = 0; round < 50; round++) {
			RecordBatch batch = numbers(100);
			AtomicInteger read = new AtomicInteger();
			AtomicInteger refused = new AtomicInteger();
			CountDownLatch start = new CountDownLatch(1);
			List<Future<?>> tasks = new ArrayList<>();
			for (int i = 0; i < 8; i++) {
				boolean closer = i == 7;
				tasks.add(pool.submit(() -> {
					start.await();
					for (int turn = 0; turn < 20; turn++) {
						if (closer && turn == 10) {
							batch.close();
						}
						try (RecordBatch own = batch.share(); OpenBatch open = batch.open(this.engine.allocator())) {
							assertThat(((IntVector) open.root().getVector(0)).get(99)).isEqualTo(99);
							read.incrementAndGet();
						}
						catch (IllegalStateException ex) {
							assertThat(ex).hasMessageContaining("This record batch is closed");
							refused.incrementAndGet();
						}
					}
					return null;
				}));
			}
			start.countDown();
			for (Future<?> task : tasks) {
				task.get();
			}
			assertThat(read.get() + refused.get()).isEqualTo(160);
			assertThat(refused.get()).isPositive();
		}
	}

	@Test
	void whenHandleIsLostThenItIsCountedAndTheMemoryGivenBack() {
		long before = RecordBatch.lostHandles();
		RecordBatch kept = numbers(10);
		lose(kept);
		Awaitility.await().untilAsserted(() -> {
			System.gc();
			assertThat(RecordBatch.lostHandles()).isEqualTo(before + 1);
		});
		kept.close();
		assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
		loseOnly();
		Awaitility.await().untilAsserted(() -> {
			System.gc();
			assertThat(RecordBatch.lostHandles()).isEqualTo(before + 2);
			assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
		});
	}

	private void loseOnly() {
		assertThat(numbers(10).rowCount()).isEqualTo(10);
	}

	private static void lose(RecordBatch batch) {
		assertThat(batch.share().rowCount()).isEqualTo(10);
	}

	@Test
	void whenColumnsShareAnAllocationThenItCountsOnce() {
		try (var chunk = this.engine.allocator().buffer(1 << 20)) {
			chunk.setZero(0, chunk.capacity());
			List<Field> fields = new ArrayList<>();
			List<ArrowFieldNode> nodes = new ArrayList<>();
			List<org.apache.arrow.memory.ArrowBuf> buffers = new ArrayList<>();
			for (int i = 0; i < 10; i++) {
				fields.add(new Field("c" + i, FieldType.nullable(ArrowTypes.INT64), null));
				nodes.add(new ArrowFieldNode(100_000, 100_000));
				buffers.add(chunk.slice(0, 12_500));
				buffers.add(chunk.slice(0, 800_000));
			}
			ArrowRecordBatch body = new ArrowRecordBatch(100_000, nodes, buffers,
					org.apache.arrow.vector.compression.NoCompressionCodec.DEFAULT_BODY_COMPRESSION, null, true, false);
			try (RecordBatch batch = RecordBatch.seal(new Schema(fields), body, List.of(), this.engine.allocator())) {
				assertThat(batch.memorySize()).isBetween(1L << 20, (1L << 20) + 10_000);
				Map<Object, Long> chunks = new IdentityHashMap<>();
				batch.forEachAllocation(chunks::put);
				// The other one stands for what the batch costs on the heap.
				assertThat(chunks.values()).containsExactlyInAnyOrder(1L << 20, batch.memorySize() - (1L << 20));
			}
		}
	}

	@Test
	void whenSliceOfABigBatchIsSealedThenItReportsAllThatItKeepsAlive() {
		Schema schema = new Schema(List.of(Field.nullable("n", ArrowTypes.INT64)));
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator());
				BatchSealer sealer = new BatchSealer(schema, this.engine.allocator(), BatchSealer.Mode.SHARE)) {
			BigIntVector vector = (BigIntVector) root.getVector(0);
			vector.allocateNew(131072);
			for (int i = 0; i < 131072; i++) {
				vector.set(i, i);
			}
			root.setRowCount(131072);
			RecordBatch batch;
			try (VectorSchemaRoot slice = root.slice(77, 1)) {
				batch = sealer.seal(slice, null);
			}
			root.clear();
			try (batch; OpenBatch open = batch.open(this.engine.allocator())) {
				assertThat(((BigIntVector) open.root().getVector(0)).get(0)).isEqualTo(77);
				assertThat(batch.memorySize()).isGreaterThan(1L << 20);
				assertThat(batch.memorySize()).isGreaterThanOrEqualTo(this.engine.allocator().getAllocatedMemory());
			}
		}
	}

	@Test
	void whenThereAreNoColumnsThenTheRowCountIsKept() {
		Schema schema = new Schema(List.of(), Map.of("key", "value"));
		try (VectorSchemaRoot root = new VectorSchemaRoot(schema, List.of(), 7);
				RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator());
				OpenBatch open = batch.open(this.engine.allocator());
				VectorSchemaRoot copy = batch.copyRoot(this.engine.allocator())) {
			assertThat(batch.rowCount()).isEqualTo(7);
			assertThat(open.root().getRowCount()).isEqualTo(7);
			assertThat(copy.getRowCount()).isEqualTo(7);
			assertThat(open.root().getSchema()).isEqualTo(schema);
		}
	}

	@Test
	void whenSchemaHasMetadataThenItIsKept() {
		Field field = new Field("a", new FieldType(true, ArrowTypes.INT32, null, Map.of("unit", "m")), null);
		Schema schema = new Schema(List.of(field), Map.of("origin", "test"));
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator());
				RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator());
				OpenBatch open = batch.open(this.engine.allocator());
				VectorSchemaRoot copy = batch.copyRoot(this.engine.allocator())) {
			for (Schema kept : List.of(batch.schema(), open.root().getSchema(), copy.getSchema())) {
				assertThat(kept).isEqualTo(schema);
				assertThat(kept.getCustomMetadata()).containsEntry("origin", "test");
				assertThat(kept.getFields().get(0).getMetadata()).containsEntry("unit", "m");
			}
		}
	}

	@Test
	void whenCopyIsWrittenThenTheBatchDoesNotChange() {
		try (RecordBatch batch = numbers(3); VectorSchemaRoot copy = batch.copyRoot(this.engine.allocator())) {
			IntVector vector = (IntVector) copy.getVector(0);
			vector.setSafe(0, -1);
			for (int i = 3; i < 1000; i++) {
				vector.setSafe(i, i);
			}
			copy.setRowCount(1000);
			try (OpenBatch open = batch.open(this.engine.allocator())) {
				assertThat(CellComparison.cells(open.root(), open.dictionaries())).containsExactly(List.of(0, 1, 2));
			}
		}
	}

	@Test
	void whenRootIsReusedThenSealedBatchesKeepTheirContents() throws Exception {
		Schema schema = new Schema(List.of(Field.nullable("n", new ArrowType.Int(64, true))));
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			BigIntVector vector = (BigIntVector) root.getVector(0);
			RecordBatchStream stream = RecordBatchStream.background(schema, Map.of(),
					IntStream.range(0, 5).mapToObj((i) -> {
						vector.setSafe(0, i);
						root.setRowCount(1);
						return RecordBatch.copyOf(root, null, this.engine.allocator());
					}).iterator(), this.engine.background(1), 2);
			List<RecordBatch> batches = EngineExtension.await(stream.collect());
			for (int i = 0; i < 5; i++) {
				try (RecordBatch batch = batches.get(i); OpenBatch open = batch.open(this.engine.allocator())) {
					assertThat(((BigIntVector) open.root().getVector(0)).get(0)).isEqualTo(i);
				}
			}
		}
	}

	/**
	 * A dense union that Arrow's own transfer loses the second time.
	 */
	@Test
	void whenBatchIsSealedAgainAndAgainThenNothingIsLost() {
		for (Field field : ArrowTypes.nested()) {
			RecordBatch batch;
			List<List<Object>> truth;
			try (GeneratedBody body = GeneratedBody.of(List.of(field), ROWS, this.engine.allocator(), 3, 0.2);
					VectorSchemaRoot root = body.root()) {
				truth = CellComparison.cells(root, NONE);
				batch = RecordBatch.seal(root.getSchema(), body.body(), List.of(), this.engine.allocator());
			}
			for (int i = 0; i < 4; i++) {
				BatchSealer.Mode mode = BatchSealer.Mode.values()[i % 2];
				try (RecordBatch last = batch;
						OpenBatch open = last.open(this.engine.allocator());
						BatchSealer sealer = new BatchSealer(last.schema(), this.engine.allocator(), mode)) {
					assertThat(CellComparison.cells(open.root(), null)).as(field.getName()).isEqualTo(truth);
					batch = sealer.seal(open.root(), null);
				}
			}
			batch.close();
		}
	}

	/**
	 * Arrow's {@code addVector} shares the vectors of the old root.
	 */
	@Test
	void whenColumnIsAddedToAnOpenBatchThenTheSealedResultOutlivesIt() {
		try (RecordBatch batch = numbers(3)) {
			RecordBatch derived;
			try (OpenBatch open = batch.open(this.engine.allocator());
					IntVector doubled = new IntVector("doubled", this.engine.allocator())) {
				for (int i = 0; i < 3; i++) {
					doubled.setSafe(i, 2 * i);
				}
				doubled.setValueCount(3);
				VectorSchemaRoot wider = open.root().addVector(0, doubled);
				try (BatchSealer sealer = new BatchSealer(wider.getSchema(), this.engine.allocator(),
						BatchSealer.Mode.SHARE)) {
					derived = sealer.seal(wider, null);
				}
			}
			batch.close();
			try (derived; OpenBatch open = derived.open(this.engine.allocator())) {
				assertThat(CellComparison.cells(open.root(), NONE)).containsExactly(List.of(0, 2, 4), List.of(0, 1, 2));
			}
		}
	}

	@Test
	void whenMemoryWasSealedUnderAnotherRootThenSealingItHereCopies() {
		RecordBatch here;
		try (RootAllocator other = new RootAllocator()) {
			try (GeneratedBody body = GeneratedBody.of(List.of(ArrowTypes.field("a", ArrowTypes.INT32)), 10, other, 1,
					0);
					RecordBatch there = RecordBatch.seal(new Schema(List.of(ArrowTypes.field("a", ArrowTypes.INT32))),
							body.body(), List.of(), other)) {
				here = RecordBatch.seal(there.schema(), there.body(), List.of(), this.engine.allocator());
			}
			assertThat(other.getAllocatedMemory()).isZero();
		}
		here.close();
	}

	@Test
	void whenValidityIsLeftOutThenItIsFilledInOnce() {
		Field struct = ArrowTypes.field("s", ArrowType.Struct.INSTANCE, ArrowTypes.field("full", ArrowTypes.INT32),
				ArrowTypes.field("empty", ArrowTypes.INT32));
		try (GeneratedBody body = GeneratedBody.of(List.of(struct), 21, this.engine.allocator(), 1, 0)) {
			for (int i : new int[] { 0, 1, 3 }) {
				body.buffers().get(i).writerIndex(0);
			}
			body.nodes().set(2, new ArrowFieldNode(21, 21));
			for (boolean copy : new boolean[] { false, true }) {
				try (RecordBatch batch = RecordBatch.seal(new Schema(List.of(struct)), body.body(), List.of(), copy,
						this.engine.allocator());
						RootAllocator reader = new RootAllocator();
						OpenBatch open = batch.open(reader)) {
					assertThat(reader.getAllocatedMemory()).isZero();
					FieldVector vector = open.root().getVector(0);
					assertThat(vector.getNullCount()).isZero();
					assertThat(vector.getChildrenFromFields().get(0).getNullCount()).isZero();
					assertThat(vector.getChildrenFromFields().get(1).getNullCount()).isEqualTo(21);
				}
			}
		}
	}

	@Test
	void whenSealingFailsThenNothingLeaks() {
		Field field = ArrowTypes.field("a", ArrowTypes.INT32);
		try (BufferAllocator small = this.engine.allocator().newChildAllocator("small", 0, 64);
				GeneratedBody body = GeneratedBody.of(List.of(field, field), 100, this.engine.allocator(), 1, 0)) {
			long before = this.engine.allocator().getAllocatedMemory();
			Schema schema = new Schema(List.of(field, field));
			assertThatExceptionOfType(org.apache.arrow.memory.OutOfMemoryException.class)
				.isThrownBy(() -> RecordBatch.seal(schema, body.body(), List.of(), true, small));
			body.buffers().get(3).writerIndex(3);
			assertThatExceptionOfType(InvalidRecordBatchException.class)
				.isThrownBy(() -> RecordBatch.seal(schema, body.body(), List.of(), this.engine.allocator()));
			assertThat(this.engine.allocator().getAllocatedMemory()).isEqualTo(before);
		}
	}

	static Stream<String> badRoots() {
		return Stream.of("short column", "short list child", "offset beyond data", "unset row count");
	}

	/**
	 * What ends the JVM in native code, or gets lost silently.
	 */
	@ParameterizedTest
	@MethodSource("badRoots")
	void whenVectorsDontFitTogetherThenSealingIsRefused(String kind) {
		Field fixed = ArrowTypes.field("f", new ArrowType.FixedSizeList(4), ArrowTypes.field("item", ArrowTypes.INT32));
		Schema schema = new Schema(
				List.of(ArrowTypes.field("a", ArrowTypes.INT32), fixed, ArrowTypes.field("t", ArrowTypes.UTF8)));
		try (GeneratedBody body = GeneratedBody.of(schema.getFields(), 10, this.engine.allocator(), 1, 0);
				VectorSchemaRoot root = body.root()) {
			switch (kind) {
				case "short column" -> root.getVector(0).setValueCount(7);
				case "short list child" -> root.getVector(1).getChildrenFromFields().get(0).setValueCount(39);
				case "offset beyond data" -> root.getVector(2).getOffsetBuffer().setInt(40, 1000);
				default -> root.setRowCount(0);
			}
			if (kind.equals("unset row count")) {
				root.getFieldVectors().forEach((vector) -> vector.setValueCount(10));
			}
			long before = this.engine.allocator().getAllocatedMemory();
			assertThatExceptionOfType(InvalidRecordBatchException.class)
				.isThrownBy(() -> RecordBatch.copyOf(root, null, this.engine.allocator()))
				.withMessageContaining("Column '");
			assertThat(this.engine.allocator().getAllocatedMemory()).isEqualTo(before);
		}
	}

	@Test
	void whenStructHasChildrenOfOneNameThenBothAreKept() {
		Field struct = ArrowTypes.field("s", ArrowType.Struct.INSTANCE, ArrowTypes.field("x", ArrowTypes.INT32),
				ArrowTypes.field("x", ArrowTypes.UTF8), ArrowTypes.field("x", ArrowTypes.INT32));
		try (GeneratedBody body = GeneratedBody.of(List.of(struct), ROWS, this.engine.allocator(), 1, 0.2);
				RecordBatch batch = RecordBatch.seal(new Schema(List.of(struct)), body.body(), List.of(),
						this.engine.allocator());
				OpenBatch open = batch.open(this.engine.allocator())) {
			assertThat(open.root().getVector(0).getChildrenFromFields()).hasSize(3);
			ArrowRecordBatch again = VectorBody.of(ROWS, open.root().getFieldVectors());
			assertThat(again.getBuffers()).hasSameSizeAs(body.buffers());
		}
	}

	@Test
	void whenBodyWasSealedThenArrowsUnloaderSeesTheSame() {
		try (GeneratedBody body = GeneratedBody.of(ArrowTypes.all(), ROWS, this.engine.allocator(), 1, 0.2);
				RecordBatch batch = RecordBatch.seal(new Schema(ArrowTypes.all()), body.body(), List.of(),
						this.engine.allocator());
				OpenBatch open = batch.open(this.engine.allocator());
				ArrowRecordBatch unloaded = new VectorUnloader(open.root()).getRecordBatch()) {
			ArrowRecordBatch own = VectorBody.of(ROWS, open.root().getFieldVectors());
			assertThat(own.getNodes()).hasToString(unloaded.getNodes().toString());
			assertThat(own.getBuffersLayout()).hasToString(unloaded.getBuffersLayout().toString());
			assertThat(own.getVariadicBufferCounts()).isEqualTo(unloaded.getVariadicBufferCounts());
		}
	}

	@Test
	void whenBuffersAreNotAlignedThenTheyAreCopied() {
		Schema schema = new Schema(List.of(ArrowTypes.field("n", new ArrowType.Int(64, true))));
		try (ArrowBuf memory = this.engine.allocator().buffer(64)) {
			memory.setZero(0, 64);
			memory.setByte(0, 7);
			memory.setLong(12, 41);
			memory.setLong(20, 42);
			memory.setLong(28, 43);
			ArrowBuf validity = memory.slice(0, 1).writerIndex(1);
			ArrowBuf values = memory.slice(12, 24).writerIndex(24);
			try (ArrowRecordBatch body = new ArrowRecordBatch(3, List.of(new ArrowFieldNode(3, 0)),
					List.of(validity, values));
					RecordBatch batch = RecordBatch.seal(schema, body, List.of(), this.engine.allocator());
					OpenBatch open = batch.open(this.engine.allocator())) {
				BigIntVector numbers = (BigIntVector) open.root().getVector(0);
				assertThat(numbers.getDataBuffer().memoryAddress() % 8).isZero();
				assertThat(numbers.get(2)).isEqualTo(43);
			}
		}
	}

	private RecordBatch numbers(int rows) {
		Schema schema = new Schema(List.of(ArrowTypes.field("n", ArrowTypes.INT32)));
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			IntVector vector = (IntVector) root.getVector(0);
			IntStream.range(0, rows).forEach((i) -> vector.setSafe(i, i));
			root.setRowCount(rows);
			return RecordBatch.copyOf(root, null, this.engine.allocator());
		}
	}

}
