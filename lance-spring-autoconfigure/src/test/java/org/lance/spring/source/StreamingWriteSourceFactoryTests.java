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

package org.lance.spring.source;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.stream.AsyncLoop;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.stream.SchemaMismatchException;
import org.lance.spring.stream.StreamAdmissionException;
import org.lance.spring.testing.CellComparison;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The sources of the factory: what each takes over, gives back, counts and refuses.
 */
class StreamingWriteSourceFactoryTests {

	private static final Schema INTS = new Schema(List.of(Field.nullable("n", new ArrowType.Int(32, true))));

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private BackgroundExecutor executor;

	private StreamingWriteSourceFactory factory;

	@BeforeEach
	void setUp() {
		this.executor = new BackgroundExecutor(this.engine.pool(1), 1);
		this.factory = new StreamingWriteSourceFactory(this.engine.allocator(), this.executor, 1);
	}

	@Test
	void whenASourceWasUsedThenItIsUsedUp() throws Exception {
		StreamingWriteSource source = ints(1, 2);
		source.intoStream().close();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(source::intoStream);
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(source::intoStreamAndSchema);
		source.close();
		awaitFreeSlot();
		StreamingWriteSource closed = ints(1);
		closed.close();
		closed.close();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(closed::intoStream)
			.withMessageContaining("used or closed");
	}

	@Test
	void whenAnUnusedSourceIsClosedThenItsSlotAndInputAreGivenBack() throws Exception {
		Input input = new Input(stream(1, 2, 3));
		StreamingWriteSource source = EngineExtension.await(this.factory.fromIpc(input));
		assertThat(this.executor.openStreams()).isOne();
		assertThat(source.arrowSchema()).isEqualTo(INTS);
		source.close();
		awaitFreeSlot();
		assertThat(input.closed).isTrue();
		Closeable<VectorSchemaRoot> roots = new Closeable<>(List.<VectorSchemaRoot>of().iterator());
		this.factory.fromRoots(INTS, null, roots).close();
		awaitFreeSlot();
		assertThat(roots.closed).isTrue();
		assertThat(this.factory.batches()).isZero();
	}

	@Test
	void whenNoSlotIsFreeThenWhatWasTakenOverIsClosed() throws Exception {
		StreamingWriteSource blocker = ints(1);
		Input input = new Input(stream(1));
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> EngineExtension.await(this.factory.fromIpc(input)))
			.withCauseInstanceOf(StreamAdmissionException.class)
			.withMessageContaining("lance.background.queue-capacity");
		assertThat(input.closed).isTrue();
		Closeable<RecordBatch> batches = new Closeable<>(List.<RecordBatch>of().iterator());
		assertThatExceptionOfType(StreamAdmissionException.class)
			.isThrownBy(() -> this.factory.fromBatches(INTS, batches));
		assertThat(batches.closed).isTrue();
		Input read = new Input(stream(1));
		ArrowStreamReader reader = new ArrowStreamReader(read, this.engine.allocator());
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> EngineExtension.await(this.factory.fromReader(reader)));
		assertThat(read.closed).isTrue();
		blocker.close();
	}

	/**
	 * Scenario: a producer that refills one root must not change what a consumer keeps.
	 */
	@Test
	void whenTheProducerReusesItsRootThenAllBatchesKeepTheirContents() throws Exception {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(INTS, this.engine.allocator())) {
			StreamingWriteSource source = this.factory.fromRoots(INTS, null, roots(root, 5, (i) -> {
				((IntVector) root.getVector(0)).setSafe(0, i);
				root.setRowCount(1);
			}));
			assertThat(values(source.intoStream())).containsExactly(List.of(0), List.of(1), List.of(2), List.of(3),
					List.of(4));
		}
		assertThat(this.factory.batches()).isEqualTo(5);
		assertThat(this.factory.rows()).isEqualTo(5);
	}

	/**
	 * Scenario: an empty batch is no end.
	 */
	@Test
	void whenBatchesHaveNoRowsThenTheyAreBatchesAllTheSame() throws Exception {
		int[] counts = { 5, 0, 7, 0 };
		try (VectorSchemaRoot root = VectorSchemaRoot.create(INTS, this.engine.allocator())) {
			IntConsumer filler = (i) -> {
				root.allocateNew();
				root.setRowCount(counts[i]);
			};
			assertThat(rowCounts(this.factory.fromRoots(INTS, null, roots(root, 4, filler)))).containsExactly(5, 0, 7,
					0);
			awaitFreeSlot();
			byte[] stream = IpcBytes.stream(root, null, fillers(4, filler));
			assertThat(rowCounts(EngineExtension.await(this.factory.fromIpc(new Input(stream))))).containsExactly(5, 0,
					7, 0);
		}
		assertThat(this.factory.batches()).isEqualTo(8);
		assertThat(this.factory.rows()).isEqualTo(24);
	}

	/**
	 * Scenario: batches without columns keep their row counts.
	 */
	@Test
	void whenBatchesHaveNoColumnsThenTheyKeepTheirRowCounts() throws Exception {
		Schema empty = new Schema(List.of());
		int[] counts = { 7, 3 };
		try (VectorSchemaRoot root = VectorSchemaRoot.create(empty, this.engine.allocator())) {
			IntConsumer filler = (i) -> root.setRowCount(counts[i]);
			assertThat(rowCounts(this.factory.fromRoots(empty, null, roots(root, 2, filler)))).containsExactly(7, 3);
			awaitFreeSlot();
			byte[] stream = IpcBytes.stream(root, null, fillers(2, filler));
			assertThat(rowCounts(EngineExtension.await(this.factory.fromIpc(new Input(stream))))).containsExactly(7, 3);
			awaitFreeSlot();
			ArrowStreamReader reader = new ArrowStreamReader(new Input(stream), this.engine.allocator());
			assertThat(rowCounts(EngineExtension.await(this.factory.fromReader(reader)))).containsExactly(7, 3);
		}
	}

	@Test
	void whenARootHasAnotherSchemaThenTheErrorNamesTheField() throws Exception {
		Schema other = new Schema(List.of(Field.nullable("n", new ArrowType.Int(64, true))));
		try (VectorSchemaRoot root = VectorSchemaRoot.create(other, this.engine.allocator())) {
			RecordBatchStream stream = this.factory.fromRoots(INTS, null, roots(root, 1, (i) -> root.setRowCount(0)))
				.intoStream();
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> EngineExtension.await(stream.collect()))
				.withCauseInstanceOf(SchemaMismatchException.class)
				.withMessageContaining("'n'");
		}
	}

	@Test
	void whenARootDiffersInNullabilityOnlyThenItIsTaken() throws Exception {
		Schema other = new Schema(List.of(Field.notNullable("n", new ArrowType.Int(32, true))));
		try (VectorSchemaRoot root = VectorSchemaRoot.create(other, this.engine.allocator())) {
			StreamingWriteSource source = this.factory.fromRoots(INTS, null, roots(root, 1, (i) -> {
				((IntVector) root.getVector(0)).setSafe(0, 4);
				root.setRowCount(1);
			}));
			assertThat(values(source.intoStream())).containsExactly(List.of(4));
		}
	}

	@Test
	void whenRootsHaveDictionariesThenEachBatchHasTheValuesOfItsTime() throws Exception {
		DictionaryEncoding encoding = new DictionaryEncoding(3, false, new ArrowType.Int(32, true));
		Schema schema = new Schema(
				List.of(new Field("d", new FieldType(true, encoding.getIndexType(), encoding), null)));
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator());
				VarCharVector values = new VarCharVector("values", this.engine.allocator())) {
			DictionaryProvider provider = new DictionaryProvider.MapDictionaryProvider(
					new Dictionary(values, encoding));
			StreamingWriteSource source = this.factory.fromRoots(schema, provider, roots(root, 3, (i) -> {
				values.setSafe(0, ("value " + i).getBytes(StandardCharsets.UTF_8));
				values.setValueCount(1);
				((IntVector) root.getVector(0)).setSafe(0, 0);
				root.setRowCount(1);
			}));
			assertThat(source.dictionaryFields()).containsOnlyKeys(3L);
			assertThat(values(source.intoStream())).containsExactly(List.of("value 0"), List.of("value 1"),
					List.of("value 2"));
		}
	}

	@Test
	void whenAGivenBatchHasAnotherSchemaThenItIsClosedAndTheErrorNamesTheField() throws Exception {
		Schema other = new Schema(List.of(Field.nullable("m", new ArrowType.Int(32, true))));
		RecordBatch batch = empty(other);
		RecordBatchStream stream = this.factory.fromBatches(INTS, List.of(batch).iterator()).intoStream();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(stream.collect()))
			.withCauseInstanceOf(SchemaMismatchException.class)
			.withMessageContaining("'n'");
		assertThat(batch.isClosed()).isTrue();
	}

	@Test
	void whenAStreamIsWrappedThenItsBatchesPassThroughAndAreCounted() throws Exception {
		RecordBatch batch = empty(INTS);
		RecordBatchStream inner = RecordBatchStream.background(INTS, Map.of(), List.of(batch).iterator(), this.executor,
				0);
		StreamingWriteSource source = this.factory.fromStream(inner);
		RecordBatchStream stream = source.intoStream();
		assertThat(EngineExtension.await(stream.next())).containsSame(batch);
		assertThat(EngineExtension.await(stream.next())).isEmpty();
		EngineExtension.await(stream.closed());
		EngineExtension.await(inner.closed());
		assertThat(this.factory.batches()).isOne();
		batch.close();
	}

	@Test
	void whenAReaderHasAForeignAllocatorThenItMayBeClosedOnceTheBatchesWereTaken() throws Exception {
		byte[] stream = stream(1, 2);
		List<RecordBatch> batches;
		AtomicReference<Thread> thread = new AtomicReference<>();
		try (BufferAllocator foreign = new RootAllocator()) {
			Input input = new Input(stream) {

				@Override
				public int read(byte[] target, int offset, int length) {
					thread.set(Thread.currentThread());
					return super.read(target, offset, length);
				}

			};
			StreamingWriteSource source = EngineExtension
				.await(this.factory.fromReader(new ArrowStreamReader(input, foreign)));
			batches = EngineExtension.await(source.intoStream().collect());
			assertThat(input.closed).isTrue();
		}
		assertThat(thread.get()).isNotNull().isNotSameAs(Thread.currentThread());
		assertThat(batches).hasSize(2);
		batches.forEach(RecordBatch::close);
	}

	@Test
	void whenInputIsAChannelThenItIsReadFromItsPosition(@TempDir Path folder) throws Exception {
		Path file = Files.write(folder.resolve("x"), new IpcBytes().raw(new byte[3]).raw(stream(7, 8)).toByteArray());
		FileChannel channel = FileChannel.open(file).position(3);
		assertThat(values(EngineExtension.await(this.factory.fromIpc(channel)).intoStream()))
			.containsExactly(List.of(7), List.of(8));
		Awaitility.await().until(() -> !channel.isOpen());
	}

	@Test
	void whenAChannelDoesNotBlockThenItIsRefusedAndClosed() throws Exception {
		java.nio.channels.Pipe pipe = java.nio.channels.Pipe.open();
		pipe.source().configureBlocking(false);
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> EngineExtension.await(this.factory.fromIpc(pipe.source())))
			.withCauseInstanceOf(IllegalArgumentException.class)
			.withMessageContaining("does not block");
		awaitFreeSlot();
		assertThat(pipe.source().isOpen()).isFalse();
		pipe.sink().close();
	}

	@Test
	void whenAFileIsCutThenThatIsKnownBeforeItsLastBodyIsAllocated(@TempDir Path folder) throws Exception {
		byte[] data = new IpcBytes().schema(INTS)
			.raw(IpcBytes.batchMessage(8_000_000, 0, 32_000_000, 32_000_000, new byte[100]))
			.toByteArray();
		Path file = Files.write(folder.resolve("x"), data);
		RecordBatchStream stream = EngineExtension.await(this.factory.fromIpc(file)).intoStream();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(stream.collect()))
			.withCauseInstanceOf(TruncatedIpcException.class)
			.withMessageContaining("32000000 bytes, but 100 are left");
		assertThat(this.engine.allocator().getPeakMemoryAllocation()).isLessThan(1000);
	}

	@Test
	void whenAFileGoesOnBehindTheEndThenThatIsAnError(@TempDir Path folder) throws Exception {
		Path file = Files.write(folder.resolve("x"), new IpcBytes().raw(stream(1)).raw(stream(2)).toByteArray());
		RecordBatchStream stream = EngineExtension.await(this.factory.fromIpc(file)).intoStream();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(stream.collect()))
			.withCauseInstanceOf(MalformedIpcException.class);
	}

	@Test
	void whenAFileDoesNotExistThenTheFailureIsThatOfTheFileSystem() {
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> EngineExtension.await(this.factory.fromIpc(Path.of("does", "not", "exist"))))
			.withCauseInstanceOf(NoSuchFileException.class);
		awaitFreeSlot();
	}

	@Test
	void whenTheInputFailsThenItsVeryExceptionArrives() throws Exception {
		IOException boom = new IOException("boom");
		byte[] data = stream(1, 2);
		InputStream input = new java.io.SequenceInputStream(new ByteArrayInputStream(data, 0, data.length - 20),
				new InputStream() {

					@Override
					public int read() throws IOException {
						throw boom;
					}

					@Override
					public int read(byte[] target, int offset, int length) throws IOException {
						throw boom;
					}

				});
		RecordBatchStream stream = EngineExtension.await(this.factory.fromIpc(input)).intoStream();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(stream.collect()))
			.withCause(boom);
	}

	/**
	 * Without anybody closing them, which a consumer that has failed may forget.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "ipc", "reader", "roots", "batches", "stream" })
	void whenAStreamEndsOrFailsThenItsSourceIsClosedAtOnce(String kind) throws Exception {
		for (boolean fails : new boolean[] { false, true }) {
			for (boolean peeks : new boolean[] { false, true }) {
				byte[] data = stream(1, 2);
				Input input = new Input(fails ? Arrays.copyOf(data, data.length - 20) : data);
				Closeable<RecordBatch> batches = new Closeable<>(batches(fails));
				StreamingWriteSource source = switch (kind) {
					case "ipc" -> EngineExtension.await(this.factory.fromIpc(input));
					case "reader" -> EngineExtension
						.await(this.factory.fromReader(new ArrowStreamReader(input, this.engine.allocator())));
					case "roots" -> this.factory.fromRoots(INTS, null, new Roots(batches, this.engine.allocator()));
					case "batches" -> this.factory.fromBatches(INTS, batches);
					default -> this.factory
						.fromStream(RecordBatchStream.background(INTS, Map.of(), batches, this.executor, 0));
				};
				RecordBatchStream stream = peeks ? EngineExtension.await(source.intoStreamAndSchema()).stream()
						: source.intoStream();
				CompletableFuture<Void> read = AsyncLoop
					.repeat(() -> stream.next().thenApply((next) -> next.map((batch) -> closed(batch)).orElse(false)))
					.toCompletableFuture();
				if (fails) {
					assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(read));
				}
				else {
					EngineExtension.await(read);
				}
				EngineExtension.await(stream.closed());
				assertThat(input.closed || batches.closed.get()).isTrue();
				assertThat(this.executor.openStreams()).isZero();
			}
		}
	}

	private static boolean closed(RecordBatch batch) {
		batch.close();
		return true;
	}

	private Iterator<RecordBatch> batches(boolean fails) {
		int[] index = { 0 };
		return new Iterator<>() {

			@Override
			public boolean hasNext() {
				return index[0] < 2;
			}

			@Override
			public RecordBatch next() {
				if (fails && index[0] == 1) {
					throw new IllegalStateException("boom");
				}
				index[0]++;
				return empty(INTS);
			}

		};
	}

	@Test
	void whenDictionariesCannotBeLookedUpThenTheRootsAreClosed() {
		IllegalStateException boom = new IllegalStateException("boom");
		Field column = new Field("d", new FieldType(true, new ArrowType.Int(32, true),
				new DictionaryEncoding(1, false, new ArrowType.Int(32, true))), null);
		Closeable<VectorSchemaRoot> roots = new Closeable<>(Collections.emptyIterator());
		DictionaryProvider failing = new DictionaryProvider() {

			@Override
			public Dictionary lookup(long id) {
				throw boom;
			}

			@Override
			public Set<Long> getDictionaryIds() {
				return Set.of(1L);
			}

		};
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> this.factory.fromRoots(new Schema(List.of(column)), failing, roots))
			.isSameAs(boom);
		assertThat(roots.closed).isTrue();
		assertThat(this.executor.openStreams()).isZero();
	}

	/**
	 * Pipes and the files of some file systems have no size.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whenAFileChannelHasNoSizeThenItIsReadAllTheSame(boolean fails, @TempDir Path folder) throws Exception {
		Path file = Files.write(folder.resolve("x"), stream(7, 8));
		FileChannel channel = new SizelessChannel(FileChannel.open(file), fails);
		assertThat(values(EngineExtension.await(this.factory.fromIpc(channel)).intoStream()))
			.containsExactly(List.of(7), List.of(8));
		Awaitility.await().until(() -> !channel.isOpen());
	}

	@Test
	void whenNobodyWaitsForTheSourceAnyMoreThenItIsClosed() throws Exception {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch go = new CountDownLatch(1);
		Input input = new Input(stream(1)) {

			@Override
			public int read(byte[] target, int offset, int length) {
				asked.countDown();
				try {
					go.await();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
				return super.read(target, offset, length);
			}

		};
		CompletableFuture<StreamingWriteSource> source = this.factory.fromIpc(input).toCompletableFuture();
		asked.await();
		source.cancel(false);
		go.countDown();
		awaitFreeSlot();
		assertThat(input.closed).isTrue();
	}

	private StreamingWriteSource ints(int... values) throws Exception {
		return EngineExtension.await(this.factory.fromIpc(new Input(stream(values))));
	}

	private byte[] stream(int... values) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(INTS, this.engine.allocator())) {
			return IpcBytes.stream(root, null, fillers(values.length, (i) -> {
				((IntVector) root.getVector(0)).setSafe(0, values[i]);
				root.setRowCount(1);
			}));
		}
	}

	private static Runnable[] fillers(int count, IntConsumer filler) {
		Runnable[] fillers = new Runnable[count];
		for (int i = 0; i < count; i++) {
			int index = i;
			fillers[i] = () -> filler.accept(index);
		}
		return fillers;
	}

	private RecordBatch empty(Schema schema) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			return RecordBatch.copyOf(root, null, this.engine.allocator());
		}
	}

	private void awaitFreeSlot() {
		Awaitility.await().until(() -> this.executor.openStreams() == 0);
	}

	private List<Integer> rowCounts(StreamingWriteSource source) throws Exception {
		List<RecordBatch> batches = EngineExtension.await(source.intoStream().collect());
		List<Integer> counts = batches.stream().map(RecordBatch::rowCount).toList();
		batches.forEach(RecordBatch::close);
		return counts;
	}

	/**
	 * The cells of the first column, read when all batches are there.
	 */
	private List<List<Object>> values(RecordBatchStream stream) throws Exception {
		List<List<Object>> values = new ArrayList<>();
		for (RecordBatch batch : EngineExtension.await(stream.collect())) {
			try (batch; OpenBatch open = batch.open(this.engine.allocator())) {
				values.add(CellComparison.cells(open.root(), open.dictionaries()).get(0));
			}
		}
		return values;
	}

	/**
	 * One root again and again, filled anew each time.
	 */
	private static Iterator<VectorSchemaRoot> roots(VectorSchemaRoot root, int count, IntConsumer filler) {
		return new Iterator<>() {

			private int index;

			@Override
			public boolean hasNext() {
				return this.index < count;
			}

			@Override
			public VectorSchemaRoot next() {
				filler.accept(this.index++);
				return root;
			}

		};
	}

	/**
	 * Empty roots, as many as there are batches; closes those.
	 */
	private record Roots(Closeable<RecordBatch> batches,
			BufferAllocator allocator) implements Iterator<VectorSchemaRoot>, AutoCloseable {

		@Override
		public boolean hasNext() {
			return this.batches.hasNext();
		}

		@Override
		public VectorSchemaRoot next() {
			this.batches.next().close();
			return VectorSchemaRoot.create(INTS, this.allocator);
		}

		@Override
		public void close() {
			this.batches.close();
		}

	}

	/**
	 * A channel whose size is not known.
	 */
	private static final class SizelessChannel extends FileChannel {

		private final FileChannel file;

		private final boolean fails;

		SizelessChannel(FileChannel file, boolean fails) {
			this.file = file;
			this.fails = fails;
		}

		@Override
		public long size() throws IOException {
			if (this.fails) {
				throw new IOException("Illegal seek");
			}
			return 0;
		}

		@Override
		public int read(ByteBuffer target) throws IOException {
			return this.file.read(target);
		}

		@Override
		public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
			return this.file.read(targets, offset, length);
		}

		@Override
		public int read(ByteBuffer target, long position) throws IOException {
			return this.file.read(target, position);
		}

		@Override
		public long position() throws IOException {
			throw new IOException("Illegal seek");
		}

		@Override
		public FileChannel position(long position) throws IOException {
			throw new IOException("Illegal seek");
		}

		@Override
		public int write(ByteBuffer source) {
			throw new UnsupportedOperationException();
		}

		@Override
		public long write(ByteBuffer[] sources, int offset, int length) {
			throw new UnsupportedOperationException();
		}

		@Override
		public int write(ByteBuffer source, long position) {
			throw new UnsupportedOperationException();
		}

		@Override
		public FileChannel truncate(long size) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void force(boolean metadata) {
			throw new UnsupportedOperationException();
		}

		@Override
		public long transferTo(long position, long count, WritableByteChannel target) {
			throw new UnsupportedOperationException();
		}

		@Override
		public long transferFrom(ReadableByteChannel source, long position, long count) {
			throw new UnsupportedOperationException();
		}

		@Override
		public MappedByteBuffer map(MapMode mode, long position, long size) {
			throw new UnsupportedOperationException();
		}

		@Override
		public FileLock lock(long position, long size, boolean shared) {
			throw new UnsupportedOperationException();
		}

		@Override
		public FileLock tryLock(long position, long size, boolean shared) {
			throw new UnsupportedOperationException();
		}

		@Override
		protected void implCloseChannel() throws IOException {
			this.file.close();
		}

	}

	/**
	 * An input that knows whether it was closed.
	 */
	private static class Input extends ByteArrayInputStream {

		private volatile boolean closed;

		Input(byte[] bytes) {
			super(bytes);
		}

		@Override
		public void close() {
			this.closed = true;
		}

	}

	/**
	 * An iterator that knows whether it was closed.
	 */
	private static final class Closeable<T> implements Iterator<T>, AutoCloseable {

		private final Iterator<T> items;

		private final AtomicBoolean closed = new AtomicBoolean();

		Closeable(Iterator<T> items) {
			this.items = items;
		}

		@Override
		public boolean hasNext() {
			return this.items.hasNext();
		}

		@Override
		public T next() {
			if (!hasNext()) {
				throw new NoSuchElementException();
			}
			return this.items.next();
		}

		@Override
		public void close() {
			this.closed.set(true);
		}

	}

}
