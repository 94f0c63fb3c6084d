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

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.WriteChannel;
import org.apache.arrow.vector.ipc.message.ArrowDictionaryBatch;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.testing.ArrowTypes;
import org.lance.spring.testing.CellComparison;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.GeneratedBody;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A batch keeps the dictionaries that it was sealed with.
 */
class DictionaryVersionTests {

	private static final ArrowType.Int INDEX = new ArrowType.Int(8, true);

	/**
	 * What a batch of one column of two buffers counts for its objects.
	 */
	private static final long HEAP = 512 + 2 * 96;

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private static Field nested() {
		return ArrowTypes.field("s", ArrowType.Struct.INSTANCE, ArrowTypes.indexes("word", 4, INDEX));
	}

	@ParameterizedTest
	@EnumSource(BatchSealer.Mode.class)
	void whenDictionaryIsReplacedThenEarlierBatchesKeepTheirs(BatchSealer.Mode mode) {
		Schema schema = new Schema(List.of(ArrowTypes.indexes("word", 4, INDEX), nested()));
		try (VarCharVector words = new VarCharVector("words", this.engine.allocator());
				GeneratedBody body = GeneratedBody.of(schema.getFields(), 2, this.engine.allocator(), 1, 0);
				BatchSealer sealer = new BatchSealer(schema, this.engine.allocator(), mode)) {
			body.buffers().get(1).setByte(0, 0);
			body.buffers().get(1).setByte(1, 1);
			body.buffers().get(4).setByte(0, 1);
			body.buffers().get(4).setByte(1, 0);
			DictionaryProvider provider = new DictionaryProvider.MapDictionaryProvider(
					new Dictionary(words, new DictionaryEncoding(4, false, INDEX)));
			List<RecordBatch> batches = new ArrayList<>();
			for (List<String> values : List.of(List.of("one", "two"), List.of("uno", "dos"), List.of("uno", "dos"))) {
				fill(words, values, mode == BatchSealer.Mode.COPY);
				try (VectorSchemaRoot root = body.root()) {
					batches.add(sealer.seal(root, provider));
				}
			}
			// Later ones first, all of them open at once.
			try (OpenBatch third = batches.get(2).open(this.engine.allocator());
					OpenBatch second = batches.get(1).open(this.engine.allocator());
					OpenBatch first = batches.get(0).open(this.engine.allocator())) {
				assertThat(CellComparison.cells(first.root(), first.dictionaries()))
					.containsExactly(List.of("one", "two"), List.of(List.of("two"), List.of("one")));
				assertThat(CellComparison.cells(second.root(), second.dictionaries()))
					.containsExactly(List.of("uno", "dos"), List.of(List.of("dos"), List.of("uno")));
				assertThat(CellComparison.cells(third.root(), third.dictionaries()))
					.isEqualTo(CellComparison.cells(second.root(), second.dictionaries()));
			}
			assertThat(batches.get(1).dictionaries()).isNotEqualTo(batches.get(0).dictionaries());
			assertThat(batches.get(2).dictionaries()).isEqualTo(batches.get(1).dictionaries());
			batches.forEach(RecordBatch::close);
		}
	}

	private static void fill(VarCharVector vector, List<String> values, boolean inPlace) {
		if (!inPlace) {
			vector.clear();
			vector.allocateNew();
		}
		for (int i = 0; i < values.size(); i++) {
			vector.setSafe(i, values.get(i).getBytes());
		}
		vector.setValueCount(values.size());
	}

	@Test
	void whenDictionaryStaysWhereItIsThenItIsNotCompared() {
		Schema schema = new Schema(List.of(ArrowTypes.indexes("word", 4, INDEX)));
		try (VarCharVector words = new VarCharVector("words", this.engine.allocator());
				GeneratedBody body = GeneratedBody.of(schema.getFields(), 2, this.engine.allocator(), 1, 0);
				VectorSchemaRoot root = body.root();
				BatchSealer sharing = new BatchSealer(schema, this.engine.allocator(), BatchSealer.Mode.SHARE);
				BatchSealer copying = new BatchSealer(schema, this.engine.allocator(), BatchSealer.Mode.COPY)) {
			fill(words, List.of("a", "b", "c", "d", "e"), false);
			DictionaryProvider provider = new DictionaryProvider.MapDictionaryProvider(
					new Dictionary(words, new DictionaryEncoding(4, false, INDEX)));
			for (BatchSealer sealer : List.of(sharing, copying)) {
				try (RecordBatch first = sealer.seal(root, provider)) {
					fill(words, List.of("x", "b", "c", "d", "e"), true);
					try (RecordBatch second = sealer.seal(root, provider)) {
						// Who shares has promised not to write; who copies may, and is
						// compared.
						assertThat(second.dictionaries().equals(first.dictionaries())).isEqualTo(sealer == sharing);
						assertThat(cells(first.dictionaries().get(0)).get(0)).isEqualTo("a");
					}
					fill(words, List.of("a", "b", "c", "d", "e"), true);
				}
			}
		}
	}

	private List<Object> cells(DictionaryVersion version) {
		try (FieldVector vector = version.load(this.engine.allocator())) {
			return CellComparison.cells(VectorSchemaRoot.of(vector), new DictionaryProvider.MapDictionaryProvider())
				.get(0);
		}
	}

	@Test
	void whenDictionaryIsMissingThenTheMessageNamesIt() {
		Schema schema = new Schema(List.of(nested()));
		try (GeneratedBody body = GeneratedBody.of(schema.getFields(), 2, this.engine.allocator(), 1, 0);
				VectorSchemaRoot root = body.root()) {
			assertThatExceptionOfType(InvalidRecordBatchException.class)
				.isThrownBy(() -> RecordBatch.copyOf(root, null, this.engine.allocator()))
				.withMessageContaining("Dictionary 4 is missing");
		}
	}

	static Stream<Field> growing() {
		return ArrowTypes.all().stream().filter((field) -> !refused(field));
	}

	private static boolean refused(Field field) {
		return switch (field.getType().getTypeID()) {
			case LargeList, ListView, LargeListView, RunEndEncoded -> true;
			default -> false;
		};
	}

	/**
	 * Deltas of every type that Arrow Java can append.
	 */
	@ParameterizedTest
	@MethodSource("growing")
	void whenDictionaryGrowsThenEachVersionHasItsOwnValues(Field field) {
		List<DictionaryVersion> versions = new ArrayList<>();
		List<List<Object>> truth = new ArrayList<>();
		List<Object> values = new ArrayList<>();
		for (int part = 0; part < 4; part++) {
			try (GeneratedBody body = GeneratedBody.of(List.of(field), 9 + part, this.engine.allocator(), part, 0.2);
					VectorSchemaRoot root = body.root()) {
				values.addAll(CellComparison.cells(root, new DictionaryProvider.MapDictionaryProvider()).get(0));
				truth.add(List.copyOf(values.stream().map(String::valueOf).toList()));
				versions.add(DictionaryVersion.seal(1, field, body.body(), (part > 0) ? versions.get(part - 1) : null,
						this.engine.allocator()));
			}
		}
		// From the last to the first and back: put together from the start, and from
		// parts.
		for (int round : new int[] { 3, 1, 2, 0, 2, 3 }) {
			assertThat(versions.get(round).valueCount()).isEqualTo(truth.get(round).size());
			assertThat(cells(versions.get(round)).stream().map(String::valueOf)).isEqualTo(truth.get(round));
		}
		versions.get(1).close();
		versions.get(0).close();
		versions.get(2).close();
		assertThat(cells(versions.get(3)).stream().map(String::valueOf)).isEqualTo(truth.get(3));
		versions.get(3).close();
	}

	@Test
	void whenTypeCannotBeAppendedThenTheDeltaIsRefused() {
		for (Field field : ArrowTypes.nested()) {
			if (refused(field)) {
				Field values = ArrowTypes.field("s", ArrowType.Struct.INSTANCE, field);
				try (GeneratedBody body = GeneratedBody.of(List.of(values), 9, this.engine.allocator(), 1, 0.2);
						DictionaryVersion first = DictionaryVersion.seal(1, values, body.body(), null,
								this.engine.allocator())) {
					long before = this.engine.allocator().getAllocatedMemory();
					assertThatExceptionOfType(InvalidRecordBatchException.class)
						.isThrownBy(
								() -> DictionaryVersion.seal(1, values, body.body(), first, this.engine.allocator()))
						.withMessageContaining("send it as a replacement");
					assertThat(this.engine.allocator().getAllocatedMemory()).isEqualTo(before);
				}
			}
		}
	}

	@Test
	void whenDeltaIsOfAnotherDictionaryThenItIsRefused() {
		Field text = ArrowTypes.field("v", ArrowTypes.UTF8);
		Field number = ArrowTypes.field("v", ArrowTypes.INT32);
		try (GeneratedBody texts = GeneratedBody.of(List.of(text), 9, this.engine.allocator(), 1, 0);
				GeneratedBody numbers = GeneratedBody.of(List.of(number), 9, this.engine.allocator(), 1, 0);
				DictionaryVersion first = DictionaryVersion.seal(1, text, texts.body(), null,
						this.engine.allocator())) {
			assertThatExceptionOfType(InvalidRecordBatchException.class)
				.isThrownBy(() -> DictionaryVersion.seal(2, text, texts.body(), first, this.engine.allocator()));
			assertThatExceptionOfType(InvalidRecordBatchException.class)
				.isThrownBy(() -> DictionaryVersion.seal(1, number, numbers.body(), first, this.engine.allocator()))
				.withMessageContaining("can't be continued by");
		}
	}

	@Test
	void whenVersionIsClosedWhileItsValuesAreOpenThenThoseBeforeAreGivenBack() {
		Field field = ArrowTypes.field("v", ArrowTypes.UTF8);
		try (GeneratedBody body = GeneratedBody.of(List.of(field), 9, this.engine.allocator(), 1, 0)) {
			DictionaryVersion first = DictionaryVersion.seal(1, field, body.body(), null, this.engine.allocator());
			DictionaryVersion second = DictionaryVersion.seal(1, field, body.body(), first, this.engine.allocator());
			first.close();
			FieldVector whole = second.load(this.engine.allocator());
			FieldVector delta = DictionaryAppender.load(field, second.values(), this.engine.allocator());
			second.close();
			assertThat(whole.getValueCount()).isEqualTo(18);
			assertThat(delta.getValueCount()).isEqualTo(9);
			whole.close();
			delta.close();
			assertThatIllegalStateException().isThrownBy(second::retain);
			assertThatIllegalStateException().isThrownBy(second::close);
		}
	}

	@Test
	void whenThereAreThousandsOfDeltasThenClosingAndLoadingDontGrowTheStack() throws Exception {
		Field field = ArrowTypes.field("v", ArrowTypes.INT32);
		Throwable[] failure = new Throwable[1];
		Thread small = new Thread(null, () -> {
			try (GeneratedBody body = GeneratedBody.of(List.of(field), 1, this.engine.allocator(), 1, 0)) {
				DictionaryVersion version = DictionaryVersion.seal(1, field, body.body(), null,
						this.engine.allocator());
				for (int i = 1; i < 20_000; i++) {
					DictionaryVersion next = DictionaryVersion.seal(1, field, body.body(), version,
							this.engine.allocator());
					version.close();
					version = next;
				}
				assertThat(version.valueCount()).isEqualTo(20_000);
				try (FieldVector vector = version.load(this.engine.allocator())) {
					assertThat(vector.getValueCount()).isEqualTo(20_000);
				}
				version.close();
			}
			catch (Throwable ex) {
				failure[0] = ex;
			}
		}, "small stack", 256 * 1024);
		small.start();
		small.join();
		assertThat(failure[0]).isNull();
	}

	static Stream<Field> inPlace() {
		return Stream.of(ArrowTypes.field("v", ArrowTypes.UTF8), ArrowTypes.field("v", ArrowTypes.INT32),
				ArrowTypes.field("v", ArrowType.Bool.INSTANCE));
	}

	/**
	 * Arrow's reader appends the values of a delta to its own dictionary vector in place.
	 */
	@ParameterizedTest
	@MethodSource("inPlace")
	void whenReaderAppendsDeltasThenEarlierBatchesKeepTheirs(Field values) throws Exception {
		Field column = new Field("d", new FieldType(true, values.getType(), new DictionaryEncoding(4, false, INDEX)),
				null);
		byte[] stream = deltas(new Schema(List.of(column)), values);
		List<RecordBatch> batches = new ArrayList<>();
		List<Object> all = new ArrayList<>();
		try (RootAllocator foreign = new RootAllocator()) {
			for (var allocator : List.of(this.engine.allocator(), foreign)) {
				ArrowStreamReader reader = new ArrowStreamReader(new ByteArrayInputStream(stream), allocator);
				RecordBatchStream read = RecordBatchStream.of(reader, this.engine.background(1), 2,
						this.engine.allocator());
				batches.addAll(EngineExtension.await(read.collect()));
			}
		}
		assertThat(batches).hasSize(6);
		for (int i = 5; i >= 0; i--) {
			try (RecordBatch batch = batches.get(i); OpenBatch open = batch.open(this.engine.allocator())) {
				assertThat(batch.dictionaries().get(0).valueCount()).isEqualTo(3 * (i % 3 + 1));
				List<Object> found = cells(batch.dictionaries().get(0));
				if (all.isEmpty()) {
					all.addAll(found);
				}
				assertThat(found).isEqualTo(all.subList(0, found.size()));
				assertThat(CellComparison.cells(open.root(), open.dictionaries()).get(0))
					.containsExactly(found.get(found.size() - 1));
			}
		}
	}

	/**
	 * Not even the bits behind the last value, which a checksum covers.
	 */
	@ParameterizedTest
	@MethodSource("inPlace")
	void whenReaderAppendsDeltasThenNoByteOfEarlierVersionsChanges(Field values) throws Exception {
		Field column = new Field("d", new FieldType(true, values.getType(), new DictionaryEncoding(4, false, INDEX)),
				null);
		byte[] stream = deltas(new Schema(List.of(column)), values);
		try (ArrowStreamReader reader = new ArrowStreamReader(new ByteArrayInputStream(stream),
				this.engine.allocator());
				BatchSealer sealer = new BatchSealer(reader.getVectorSchemaRoot().getSchema(), this.engine.allocator(),
						BatchSealer.Mode.SHARE)) {
			assertThat(reader.loadNextBatch()).isTrue();
			try (RecordBatch first = sealer.seal(reader.getVectorSchemaRoot(), reader)) {
				List<byte[]> before = bytes(first.dictionaries().get(0));
				while (reader.loadNextBatch()) {
					sealer.seal(reader.getVectorSchemaRoot(), reader).close();
				}
				assertThat(bytes(first.dictionaries().get(0))).usingRecursiveComparison().isEqualTo(before);
			}
		}
	}

	private static List<byte[]> bytes(DictionaryVersion version) {
		return version.values().getBuffers().stream().map((buffer) -> {
			byte[] bytes = new byte[(int) buffer.readableBytes()];
			buffer.getBytes(0, bytes);
			return bytes;
		}).toList();
	}

	/**
	 * A stream of three batches of one row, each after a dictionary message of three
	 * values, the second and third as a delta.
	 */
	private byte[] deltas(Schema schema, Field values) throws Exception {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		WriteChannel channel = new WriteChannel(Channels.newChannel(bytes));
		MessageSerializer.serialize(channel, schema, IpcOption.DEFAULT);
		for (int i = 0; i < 3; i++) {
			try (GeneratedBody body = GeneratedBody.of(List.of(values), 3, this.engine.allocator(), 77 + i, 0);
					ArrowRecordBatch copy = retained(body.body())) {
				ArrowDictionaryBatch dictionary = new ArrowDictionaryBatch(4, copy, i > 0);
				MessageSerializer.serialize(channel, dictionary, IpcOption.DEFAULT);
			}
			Field index = ArrowTypes.indexes("d", 4, INDEX);
			try (GeneratedBody body = GeneratedBody.of(List.of(index), 1, this.engine.allocator(), 1, 0)) {
				body.buffers().get(1).setByte(0, 3 * i + 2);
				MessageSerializer.serialize(channel, body.body(), IpcOption.DEFAULT);
			}
		}
		return bytes.toByteArray();
	}

	private static ArrowRecordBatch retained(ArrowRecordBatch body) {
		body.getBuffers().forEach((buffer) -> buffer.getReferenceManager().retain());
		return body;
	}

	@Test
	void whenDictionaryValuesAreEncodedThemselvesThenTheyAreSealedWithTheBatch() {
		Field outer = ArrowTypes.field("names", ArrowType.List.INSTANCE, ArrowTypes.indexes("item", 9, INDEX));
		Field column = ArrowTypes.indexes("d", 8, INDEX);
		Schema schema = new Schema(List.of(column));
		try (GeneratedBody outerBody = GeneratedBody.of(List.of(outer), 5, this.engine.allocator(), 1, 0);
				VectorSchemaRoot outerRoot = outerBody.root();
				VarCharVector words = new VarCharVector("words", this.engine.allocator());
				GeneratedBody body = GeneratedBody.of(List.of(column), 20, this.engine.allocator(), 1, 0);
				VectorSchemaRoot root = body.root()) {
			fill(words, List.of("a", "b", "c", "d", "e"), false);
			DictionaryProvider provider = new DictionaryProvider.MapDictionaryProvider(
					new Dictionary(outerRoot.getVector(0), new DictionaryEncoding(8, false, INDEX)),
					new Dictionary(words, new DictionaryEncoding(9, false, INDEX)));
			List<List<Object>> truth = CellComparison.cells(root, provider);
			try (RecordBatch batch = RecordBatch.copyOf(root, provider, this.engine.allocator());
					OpenBatch open = batch.open(this.engine.allocator())) {
				assertThat(batch.dictionaries()).extracting(DictionaryVersion::id).containsExactly(8L, 9L);
				assertThat(CellComparison.cells(open.root(), open.dictionaries())).isEqualTo(truth);
				assertThat(open.dictionaries().lookup(9).getEncoding().getIndexType()).isEqualTo(INDEX);
			}
			fill(words, List.of("a"), false);
			assertThatExceptionOfType(InvalidRecordBatchException.class)
				.isThrownBy(() -> RecordBatch.copyOf(root, provider, this.engine.allocator()))
				.withMessageContaining("Dictionary 8: its values have the index");
		}
	}

	@Test
	void whenDictionaryGrowsThenEachAllocationCountsOnceAndDeltasAreNotWalkedForEachBatch() {
		Field values = ArrowTypes.field("v", ArrowTypes.INT32);
		Schema schema = new Schema(List.of(ArrowTypes.indexes("d", 1, INDEX)));
		List<RecordBatch> batches = new ArrayList<>();
		Map<Object, Long> counted = new java.util.IdentityHashMap<>();
		AtomicInteger walked = new AtomicInteger();
		try (GeneratedBody words = GeneratedBody.of(List.of(values), 100, this.engine.allocator(), 1, 0);
				GeneratedBody body = GeneratedBody.of(schema.getFields(), 5, this.engine.allocator(), 1, 0)) {
			DictionaryVersion version = null;
			for (int i = 0; i < 200; i++) {
				DictionaryVersion next = DictionaryVersion.over(1, values, words.body(), version,
						new BatchMemory(this.engine.allocator(), 1000 + i, (visitor) -> {
							walked.incrementAndGet();
							visitor.accept(walked, 1000L);
						}, () -> {
						}));
				if (version != null) {
					version.close();
				}
				version = next;
				batches.add(RecordBatch.seal(schema, body.body(), List.of(version), this.engine.allocator()));
				AtomicInteger visits = new AtomicInteger();
				batches.get(i).forEachAllocation(counted::containsKey, (allocation, bytes) -> {
					visits.incrementAndGet();
					assertThat(counted.put(allocation, bytes)).isNull();
				});
				assertThat(visits.get()).as("visits of batch %d", i).isLessThan(5);
			}
			version.close();
			assertThat(walked.get()).isLessThan(200 * 5);
			Map<Object, Long> last = new java.util.IdentityHashMap<>();
			batches.get(199).forEachAllocation(last::put);
			assertThat(sum(last)).isEqualTo(batches.get(199).memorySize())
				.isGreaterThan(IntStream.range(0, 200).map((i) -> 1000 + i).sum());
			assertThat(sum(counted)).isEqualTo(sum(last) + 199 * HEAP);
			batches.forEach(RecordBatch::close);
		}
	}

	private static long sum(Map<Object, Long> allocations) {
		return allocations.values().stream().mapToLong(Long::longValue).sum();
	}

	/**
	 * Even if its producer made it a part of what others use as well.
	 */
	@Test
	void whenDeltaIsSealedThenItsMemoryIsItsOwn() {
		Field values = ArrowTypes.field("v", ArrowTypes.INT32);
		Schema schema = new Schema(List.of(ArrowTypes.indexes("d", 1, INDEX)));
		try (GeneratedBody body = GeneratedBody.of(schema.getFields(), 5, this.engine.allocator(), 1, 0)) {
			RecordBatch batch;
			try (GeneratedBody words = GeneratedBody.of(List.of(values), 100, this.engine.allocator(), 1, 0)) {
				DictionaryVersion first = DictionaryVersion.seal(1, values, words.body(), null,
						this.engine.allocator());
				DictionaryVersion second = DictionaryVersion.seal(1, values, words.body(), first,
						this.engine.allocator());
				batch = RecordBatch.seal(schema, body.body(), List.of(second), this.engine.allocator());
				first.close();
				second.close();
			}
			// The batch shares the memory of its generated body, and has all the rest.
			assertThat(batch.memorySize() - HEAP).isEqualTo(this.engine.allocator().getAllocatedMemory());
			batch.close();
		}
	}

	@Test
	void whenEachVersionOfAGrownDictionaryWasReadThenOnlyOneCopyOfItIsKept() {
		Field values = ArrowTypes.field("v", ArrowTypes.INT32);
		List<DictionaryVersion> versions = new ArrayList<>();
		try (GeneratedBody words = GeneratedBody.of(List.of(values), 1000, this.engine.allocator(), 1, 0)) {
			for (int i = 0; i < 20; i++) {
				versions.add(DictionaryVersion.seal(1, values, words.body(), (i > 0) ? versions.get(i - 1) : null,
						this.engine.allocator()));
			}
			long before = this.engine.allocator().getAllocatedMemory();
			for (DictionaryVersion version : versions) {
				version.load(this.engine.allocator()).close();
			}
			assertThat(this.engine.allocator().getAllocatedMemory() - before).isBetween(20 * 4000L, 2 * 20 * 4000L);
			assertThat(versions.get(19).valueCount()).isEqualTo(20_000);
			versions.forEach(DictionaryVersion::close);
		}
	}

	@Test
	void whenBatchSharesADictionaryThenItCountsForTheMemory() {
		Schema schema = new Schema(List.of(ArrowTypes.indexes("d", 4, INDEX)));
		try (IntVector numbers = new IntVector("numbers", this.engine.allocator());
				GeneratedBody body = GeneratedBody.of(schema.getFields(), 5, this.engine.allocator(), 1, 0);
				VectorSchemaRoot root = body.root();
				BatchSealer sealer = new BatchSealer(schema, this.engine.allocator(), BatchSealer.Mode.SHARE)) {
			numbers.allocateNew(1000);
			IntStream.range(0, 1000).forEach((i) -> numbers.set(i, i));
			numbers.setValueCount(1000);
			DictionaryProvider provider = new DictionaryProvider.MapDictionaryProvider(
					new Dictionary(numbers, new DictionaryEncoding(4, false, INDEX)));
			try (RecordBatch first = sealer.seal(root, provider); RecordBatch second = sealer.seal(root, provider)) {
				assertThat(first.memorySize()).isGreaterThan(4000);
				Map<Object, Long> chunks = new java.util.IdentityHashMap<>();
				first.forEachAllocation(chunks::put);
				int alone = chunks.size();
				second.forEachAllocation(chunks::put);
				assertThat(chunks).as("allocations of both, and the heap of the second").hasSize(alone + 1);
			}
		}
	}

}
