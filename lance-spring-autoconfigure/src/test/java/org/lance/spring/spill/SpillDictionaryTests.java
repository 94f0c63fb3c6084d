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

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.ExtensionTypeVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.complex.LargeListViewVector;
import org.apache.arrow.vector.complex.RunEndEncodedVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.complex.impl.UnionLargeListViewWriter;
import org.apache.arrow.vector.dictionary.DictionaryEncoder;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.ArrowType.ExtensionType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.stream.DictionaryVersion;
import org.lance.spring.stream.IpcEncoder;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests dictionaries on their way through a file.
 */
class SpillDictionaryTests {

	private static final long ID = 7;

	private static final DictionaryEncoding ENCODING = new DictionaryEncoding(ID, false, null);

	private static final Field COLUMN = new Field("column", new FieldType(true, ENCODING.getIndexType(), ENCODING),
			null);

	private static final Schema SCHEMA = new Schema(List.of(COLUMN));

	private static final Schema NESTED = new Schema(
			List.of(new Field("struct", FieldType.nullable(new ArrowType.Struct()), List.of(COLUMN))));

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@TempDir
	Path base;

	private final FaultyFileSystem fileSystem = new FaultyFileSystem();

	private final List<SpillFile> files = new ArrayList<>();

	private final List<DictionaryVersion> versions = new ArrayList<>();

	private final List<FileSpillStore> stores = new ArrayList<>();

	@AfterEach
	void closeAll() {
		deleteFiles();
		this.versions.forEach(DictionaryVersion::close);
		this.versions.clear();
	}

	private void deleteFiles() {
		this.files.forEach(SpillFile::delete);
		this.files.clear();
		this.stores.forEach(FileSpillStore::close);
		this.stores.clear();
	}

	private SpillFile create(ReadMode readMode, Schema schema, DictionaryVersion... versions) {
		SpillFile file = store(readMode).create("test", schema, IpcEncoder.fields(Arrays.asList(versions)),
				SpillFormat.PLAIN);
		this.files.add(file);
		return file;
	}

	private FileSpillStore store(ReadMode readMode) {
		FileSpillStore store = new FileSpillStore(() -> this.base, this.engine.allocator(), readMode, this.fileSystem,
				TestFiles.windows(1 << 16));
		this.stores.add(store);
		return store;
	}

	private void append(SpillFile file, Schema schema, DictionaryVersion version, int... indexes) {
		try (RecordBatch batch = batch(schema, version, indexes)) {
			file.append(batch);
		}
	}

	private RecordBatch batch(Schema schema, DictionaryVersion version, int... indexes) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			FieldVector column = root.getVector(0);
			if (column instanceof StructVector struct) {
				IntStream.range(0, indexes.length).forEach(struct::setIndexDefined);
				column = (FieldVector) struct.getChild("column");
			}
			for (int i = 0; i < indexes.length; i++) {
				((IntVector) column).setSafe(i, indexes[i]);
			}
			root.setRowCount(indexes.length);
			try (ArrowRecordBatch body = new VectorUnloader(root).getRecordBatch()) {
				return RecordBatch.seal(schema, body, List.of(version), this.engine.allocator());
			}
		}
	}

	private DictionaryVersion dictionary(DictionaryVersion previous, String... values) {
		try (VarCharVector vector = new VarCharVector("values", this.engine.allocator())) {
			for (int i = 0; i < values.length; i++) {
				vector.setSafe(i, values[i].getBytes(StandardCharsets.UTF_8));
			}
			vector.setValueCount(values.length);
			return seal(previous, vector);
		}
	}

	private DictionaryVersion seal(DictionaryVersion previous, FieldVector vector) {
		try (ArrowRecordBatch body = new VectorUnloader(VectorSchemaRoot.of(vector)).getRecordBatch()) {
			DictionaryVersion version = DictionaryVersion.seal(ID, vector.getField(), body, previous,
					this.engine.allocator());
			this.versions.add(version);
			return version;
		}
	}

	private String decode(RecordBatch batch) {
		try (OpenBatch open = batch.open(this.engine.allocator())) {
			FieldVector column = open.root().getVector(0);
			if (column instanceof StructVector struct) {
				column = (FieldVector) struct.getChild("column");
			}
			try (FieldVector values = (FieldVector) DictionaryEncoder.decode(column, open.dictionaries().lookup(ID))) {
				return IntStream.range(0, values.getValueCount())
					.mapToObj((i) -> String.valueOf(values.getObject(i)))
					.reduce((left, right) -> left + "," + right)
					.orElse("");
			}
		}
	}

	private String read(SpillFile file, int index) {
		try (RecordBatch batch = file.read(index, Verification.ALWAYS)) {
			return decode(batch);
		}
	}

	private Path path() throws IOException {
		return paths().get(0);
	}

	private List<Path> paths() throws IOException {
		try (Stream<Path> paths = Files.walk(this.base)) {
			return paths.filter((path) -> path.toString().endsWith(".arrows")).toList();
		}
	}

	private List<String> decodedByArrow() throws IOException {
		List<String> batches = new ArrayList<>();
		try (ArrowStreamReader reader = new ArrowStreamReader(new ByteArrayInputStream(Files.readAllBytes(path())),
				this.engine.allocator())) {
			while (reader.loadNextBatch()) {
				try (RecordBatch batch = RecordBatch.copyOf(reader.getVectorSchemaRoot(), reader,
						this.engine.allocator())) {
					batches.add(decode(batch));
				}
			}
		}
		return batches;
	}

	@ParameterizedTest
	@EnumSource
	void eachBatchIsDecodedByItsOwnDictionary(ReadMode readMode) throws Exception {
		for (Schema schema : List.of(SCHEMA, NESTED)) {
			DictionaryVersion english = dictionary(null, "one", "two");
			DictionaryVersion spanish = dictionary(null, "uno", "dos");
			SpillFile file = create(readMode, schema, english);
			append(file, schema, english, 0, 1);
			append(file, schema, spanish, 0, 1);
			append(file, schema, spanish, 1, 0);
			append(file, schema, english, 1, 0);
			for (int run = 0; run < 2; run++) {
				try (RecordBatch first = file.read(0, Verification.ALWAYS);
						RecordBatch second = file.read(1, Verification.ALWAYS);
						RecordBatch late = file.read(3, Verification.ALWAYS)) {
					assertThat(read(file, 2)).isEqualTo("dos,uno");
					assertThat(decode(second)).isEqualTo("uno,dos");
					assertThat(decode(first)).isEqualTo("one,two");
					assertThat(decode(late)).isEqualTo("two,one");
				}
				if (run == 0) {
					file.finish();
				}
			}
			assertThat(decodedByArrow()).containsExactly("one,two", "uno,dos", "dos,uno", "two,one");
			deleteFiles();
		}
	}

	@ParameterizedTest
	@EnumSource
	void allBatchesShareOneObjectForEachVersion(ReadMode readMode) {
		SpillFile file = null;
		DictionaryVersion last = null;
		for (int i = 0; i < 40; i++) {
			last = dictionary(null, "value " + i);
			file = (file != null) ? file : create(readMode, SCHEMA, last);
			append(file, SCHEMA, last, 0);
			append(file, SCHEMA, last, 0);
		}
		file.finish();
		List<RecordBatch> held = new ArrayList<>();
		for (int i = 0; i < 80; i++) {
			held.add(file.read(i, Verification.ALWAYS));
		}
		for (int i = 0; i < 80; i++) {
			DictionaryVersion version = held.get(i).dictionaries().get(0);
			assertThat(version).isSameAs(held.get(i ^ 1).dictionaries().get(0));
			try (RecordBatch again = file.read(i, Verification.ALWAYS)) {
				assertThat(again.dictionaries().get(0)).isSameAs(version);
			}
		}
		held.forEach(RecordBatch::close);
	}

	@Test
	void dictionariesThatNobodyHoldsAreKeptWithinABound() {
		SpillFile file = null;
		String large = "x".repeat((4 << 20) - 1000);
		int count = 15;
		for (int i = 0; i < count; i++) {
			try (DictionaryVersion version = dictionary(null, i + large)) {
				this.versions.clear();
				file = (file != null) ? file : create(ReadMode.READ, SCHEMA, version);
				append(file, SCHEMA, version, 0);
			}
		}
		file.finish();
		for (int i = 0; i < count; i++) {
			assertThat(read(file, i)).startsWith(String.valueOf(i));
			assertThat(this.engine.allocator().getAllocatedMemory()).isLessThan(34 << 20);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aDeltaIsWrittenAsADelta(ReadMode readMode) throws Exception {
		DictionaryVersion version = dictionary(null, "value 0");
		SpillFile file = create(readMode, SCHEMA, version);
		append(file, SCHEMA, version, 0);
		long first = file.bytes();
		for (int i = 1; i < 50; i++) {
			version = dictionary(version, "value " + i);
			append(file, SCHEMA, version, i, 0);
			assertThat(read(file, i)).isEqualTo("value " + i + ",value 0");
		}
		file.finish();
		assertThat(file.bytes()).as("linear").isLessThan(first * 50);
		assertThat(read(file, 30)).isEqualTo("value 30,value 0");
		assertThat(read(file, 0)).isEqualTo("value 0");
		assertThat(decodedByArrow()).hasSize(50).contains("value 49,value 0");
		try (RecordBatch batch = file.read(49, Verification.ALWAYS);
				RecordBatch before = file.read(48, Verification.ALWAYS)) {
			assertThat(batch.dictionaries().get(0).previous()).isSameAs(before.dictionaries().get(0));
		}
	}

	/**
	 * In a JVM of its own: Arrow's debug allocator keeps a stack trace for each of the
	 * buffers, which takes gigabytes.
	 */
	@ParameterizedTest
	@EnumSource
	void twentyThousandDeltasBeforeOneBatchAreRead(ReadMode readMode) throws Exception {
		assertThat(ChildJvm.run(ManyDeltas.class, this.base.toString(), readMode.name()))
			.contains("value 0,value 10000,value 20000");
	}

	@Test
	void aDeltaOfBooleansDoesNotWriteIntoTheMapping() throws Exception {
		DictionaryVersion first = booleans(null, true, false, true);
		DictionaryVersion second = booleans(first, true, true);
		SpillFile file = create(ReadMode.MAP, SCHEMA, first);
		append(file, SCHEMA, first, 0, 1, 2);
		append(file, SCHEMA, second, 4, 3, 1);
		file.finish();
		byte[] before = Files.readAllBytes(path());
		try (RecordBatch early = file.read(0, Verification.ALWAYS)) {
			inTwoThreads((reader) -> () -> {
				for (int i = 0; i < 100; i++) {
					assertThat(read(file, 1)).isEqualTo("true,true,false");
					assertThat(read(file, 0)).isEqualTo("true,false,true");
				}
				return null;
			});
			assertThat(decode(early)).isEqualTo("true,false,true");
		}
		assertThat(Files.readAllBytes(path())).isEqualTo(before);
	}

	private DictionaryVersion booleans(DictionaryVersion previous, Boolean... values) {
		try (BitVector vector = new BitVector("values", this.engine.allocator())) {
			for (int i = 0; i < values.length; i++) {
				vector.setSafe(i, List.of(false, true).indexOf(values[i]));
			}
			vector.setValueCount(values.length);
			return seal(previous, vector);
		}
	}

	private void inTwoThreads(IntFunction<Callable<Void>> work) throws Exception {
		ExecutorService pool = this.engine.pool(2);
		for (Future<Void> future : pool.invokeAll(List.of(work.apply(0), work.apply(1)))) {
			future.get();
		}
	}

	@ParameterizedTest
	@EnumSource
	void readersInManyPlacesGetTheirVersions(ReadMode readMode) throws Exception {
		SpillFile file = null;
		DictionaryVersion version = null;
		for (int i = 0; i < 100; i++) {
			version = dictionary((i % 10 == 0) ? null : version, "value " + i);
			file = (file != null) ? file : create(readMode, SCHEMA, version);
			append(file, SCHEMA, version, version.valueCount() - 1, 0);
		}
		file.finish();
		SpillFile shared = file;
		inTwoThreads((reader) -> () -> {
			for (int i = 0; i < 100; i++) {
				int at = (reader == 0) ? i : 99 - i;
				assertThat(read(shared, at)).isEqualTo("value " + at + ",value " + (at - at % 10));
			}
			return null;
		});
	}

	@ParameterizedTest
	@EnumSource
	void whenADictionaryIsDamagedThenTheBatchIsCorrupted(ReadMode readMode) throws Exception {
		DictionaryVersion english = dictionary(null, "one", "two");
		DictionaryVersion more = dictionary(english, "three");
		for (boolean neverBefore : new boolean[] { false, true }) {
			SpillFile file = create(readMode, SCHEMA, english);
			append(file, SCHEMA, english, 0, 1);
			append(file, SCHEMA, more, 2, 0);
			file.finish();
			byte[] bytes = Files.readAllBytes(path());
			int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("onetwo");
			bytes[at] = 'O';
			Files.write(path(), bytes);
			if (neverBefore) {
				file.read(1, Verification.NEVER).close();
			}
			for (int i = 0; i < 2; i++) {
				int batch = i;
				assertThatExceptionOfType(SpillCorruptedException.class).isThrownBy(() -> read(file, batch))
					.withMessageContaining("batch " + batch + " ");
			}
			deleteFiles();
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenADictionaryInUseIsDamagedThenLaterReadersDoNotGetIt(ReadMode readMode) throws Exception {
		DictionaryVersion english = dictionary(null, "one", "two");
		DictionaryVersion more = dictionary(english, "three");
		SpillFile file = create(readMode, SCHEMA, english);
		append(file, SCHEMA, english, 0, 1);
		append(file, SCHEMA, more, 2, 0);
		file.finish();
		try (RecordBatch held = file.read(1, Verification.ALWAYS)) {
			byte[] bytes = Files.readAllBytes(path());
			bytes[new String(bytes, StandardCharsets.ISO_8859_1).indexOf("onetwo")] = 'O';
			Files.write(path(), bytes);
			Files.setLastModifiedTime(path(), FileTime.fromMillis(System.currentTimeMillis() + 1000));
			for (int i = 0; i < 2; i++) {
				int batch = i;
				if (readMode == ReadMode.MAP) {
					assertThatExceptionOfType(SpillCorruptedException.class).isThrownBy(() -> read(file, batch));
				}
				else {
					assertThat(read(file, batch)).isEqualTo(List.of("one,two", "three,one").get(batch));
				}
			}
			assertThat(held.rowCount()).isEqualTo(2);
		}
	}

	@Test
	void whenTheDiskIsFullAtAnyByteOfADictionaryStreamThenNothingIsLost() throws Exception {
		DictionaryVersion english = dictionary(null, "one", "two");
		DictionaryVersion more = dictionary(english, "three");
		DictionaryVersion spanish = dictionary(null, "uno", "dos");
		List<RecordBatch> batches = Stream.of(english, more, spanish)
			.map((version) -> batch(SCHEMA, version, 0, 1))
			.toList();
		long before = this.engine.allocator().getAllocatedMemory();
		FileSpillStore store = store(ReadMode.MAP);
		long size = write(store, batches);
		for (long room = 0; room < size; room++) {
			this.fileSystem.room(room);
			assertThatExceptionOfType(SpillDiskFullException.class).isThrownBy(() -> write(store, batches))
				.havingRootCause()
				.withMessage("No space left on device");
			this.fileSystem.repair();
			assertThat(this.engine.allocator().getAllocatedMemory()).isEqualTo(before);
			assertThat(LocalChannel.open()).as("the lock file").isOne();
			assertThat(paths()).as("no file is left").isEmpty();
		}
		assertThat(write(store, batches)).isEqualTo(size);
		batches.forEach(RecordBatch::close);
	}

	private long write(FileSpillStore store, List<RecordBatch> batches) {
		SpillFile file = store.create("test", SCHEMA, IpcEncoder.fields(batches.get(0).dictionaries()),
				SpillFormat.PLAIN);
		try {
			batches.forEach(file::append);
			file.finish();
			for (int i = 0; i < batches.size(); i++) {
				assertThat(read(file, i)).isIn("one,two", "uno,dos");
			}
			return file.bytes();
		}
		finally {
			file.delete();
		}
	}

	@ParameterizedTest
	@EnumSource
	void valuesOfTypesThatArrowsWriterRefusesAreKept(ReadMode readMode) {
		for (IntFunction<FieldVector> type : types(this.engine.allocator())) {
			try (FieldVector values = type.apply(2)) {
				DictionaryVersion version = seal(null, values);
				SpillFile file = create(readMode, SCHEMA, version);
				append(file, SCHEMA, version, 1, 0);
				file.finish();
				try (RecordBatch batch = file.read(0, Verification.ALWAYS);
						OpenBatch open = batch.open(this.engine.allocator())) {
					FieldVector read = (FieldVector) open.dictionaries().lookup(ID).getVector();
					assertThat(read.getField()).isEqualTo(values.getField());
					assertThat(read.getValueCount()).isEqualTo(2);
					for (int i = 0; i < 2; i++) {
						assertThat(read.getObject(i)).as("%s", values.getField()).isEqualTo(values.getObject(i));
					}
				}
				deleteFiles();
			}
		}
	}

	/**
	 * Makers of that many values, each of another type.
	 */
	static List<IntFunction<FieldVector>> types(BufferAllocator allocator) {
		return List.of((count) -> {
			NullVector vector = new NullVector("values");
			vector.setValueCount(count);
			return vector;
		}, (count) -> {
			LargeListViewVector vector = LargeListViewVector.empty("values", allocator);
			UnionLargeListViewWriter writer = vector.getWriter();
			for (int i = 0; i < count; i++) {
				writer.setPosition(i);
				writer.startListView();
				writer.writeInt(i);
				writer.writeInt(i + 10);
				writer.endListView();
			}
			writer.setValueCount(count);
			return vector;
		}, (count) -> {
			Field runs = Field.notNullable("run_ends", new ArrowType.Int(32, true));
			Field values = Field.nullable("values", new ArrowType.Int(32, true));
			RunEndEncodedVector vector = (RunEndEncodedVector) new Field("values",
					FieldType.notNullable(new ArrowType.RunEndEncoded()), List.of(runs, values))
				.createVector(allocator);
			((IntVector) vector.getRunEndsVector()).setSafe(0, count);
			vector.getRunEndsVector().setValueCount(1);
			((IntVector) vector.getValuesVector()).setSafe(0, 42);
			vector.getValuesVector().setValueCount(1);
			vector.setValueCount(count);
			return vector;
		}, (count) -> {
			PointVector vector = new PointVector("values", allocator);
			for (int i = 0; i < count; i++) {
				vector.getUnderlyingVector().setSafe(i, new byte[] { (byte) i, 1 });
			}
			vector.setValueCount(count);
			return vector;
		});
	}

	static final class ManyDeltas implements ChildJvm.Program {

		@Override
		public void run(List<String> arguments) {
			SpillDictionaryTests test = new SpillDictionaryTests();
			test.base = Path.of(arguments.get(0));
			test.engine.beforeEach(null);
			int count = 20_000;
			DictionaryVersion version = test.dictionary(null, "value 0");
			for (int i = 1; i <= count; i++) {
				DictionaryVersion previous = version;
				version = test.dictionary(previous, "value " + i);
				previous.close();
			}
			test.versions.subList(0, count).clear();
			SpillFile file = test.create(ReadMode.valueOf(arguments.get(1)), SCHEMA, version);
			test.append(file, SCHEMA, version, 0, count / 2, count);
			file.finish();
			System.out.println(test.read(file, 0));
			test.closeAll();
			if (test.engine.allocator().getAllocatedMemory() > 0 || MappedWindow.open() > 0) {
				throw new IllegalStateException("Something is left");
			}
		}

	}

	/**
	 * An extension type that nobody registered.
	 */
	static final class PointType extends ExtensionType {

		@Override
		public ArrowType storageType() {
			return new ArrowType.FixedSizeBinary(2);
		}

		@Override
		public String extensionName() {
			return "test.point";
		}

		@Override
		public boolean extensionEquals(ExtensionType other) {
			return other instanceof PointType;
		}

		@Override
		public String serialize() {
			return "";
		}

		@Override
		public ArrowType deserialize(ArrowType storageType, String serializedData) {
			return new PointType();
		}

		@Override
		public FieldVector getNewVector(String name, FieldType fieldType, BufferAllocator allocator) {
			return new PointVector(name, allocator);
		}

	}

	static final class PointVector extends ExtensionTypeVector<FixedSizeBinaryVector> {

		private final Field field;

		PointVector(String name, BufferAllocator allocator) {
			super(name, allocator, new FixedSizeBinaryVector(name, allocator, 2));
			this.field = new Field(name, FieldType.nullable(new PointType()), null);
		}

		@Override
		public Field getField() {
			return this.field;
		}

		@Override
		public Object getObject(int index) {
			return Arrays.toString(getUnderlyingVector().get(index));
		}

		@Override
		public int hashCode(int index) {
			return getUnderlyingVector().hashCode(index);
		}

		@Override
		public int hashCode(int index, org.apache.arrow.memory.util.hash.ArrowBufHasher hasher) {
			return getUnderlyingVector().hashCode(index, hasher);
		}

	}

}
