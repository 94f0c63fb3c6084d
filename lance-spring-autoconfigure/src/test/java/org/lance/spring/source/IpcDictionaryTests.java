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

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.util.hash.ArrowBufHasher;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.ExtensionTypeVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.LargeListViewVector;
import org.apache.arrow.vector.complex.RunEndEncodedVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.ArrowType.ExtensionType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.ExtensionTypeRegistry;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.lance.spring.stream.ArrowDataException;
import org.lance.spring.stream.InvalidRecordBatchException;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.CellComparison;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Dictionaries as they come in IPC streams: late, replaced, growing, of every type.
 */
class IpcDictionaryTests {

	private static final ArrowType.Int INDEX = new ArrowType.Int(32, true);

	private static final DictionaryEncoding ENCODING = new DictionaryEncoding(7, false, INDEX);

	private static final Field STRINGS = Field.nullable("DICT7", ArrowType.Utf8.INSTANCE);

	private static final Schema MEMORY = new Schema(
			List.of(new Field("d", new FieldType(true, INDEX, ENCODING), null)));

	private static final Map<String, String> EXTENSION = Map.of(ExtensionType.EXTENSION_METADATA_KEY_NAME,
			"test.dictionary.text", ExtensionType.EXTENSION_METADATA_KEY_METADATA, "");

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	/**
	 * Scenario: a reader that recurses for each dictionary message overflows its stack.
	 * The values are nulls, because Arrow's debug allocator keeps megabytes about
	 * thousands of buffers.
	 */
	@Test
	void whenThousandsOfDeltasComeBeforeABatchThenItHasAllValues() {
		Field nulls = Field.nullable("DICT7", ArrowType.Null.INSTANCE);
		Consumer<FieldVector> one = (vector) -> vector.setValueCount(1);
		byte[] delta = new IpcBytes().dictionary(7, true, nulls, one).toByteArray();
		IpcBytes data = new IpcBytes().schema(message(nulls)).dictionary(7, false, nulls, one);
		for (int i = 0; i < 20_000; i++) {
			data.raw(delta);
		}
		List<RecordBatch> batches = batches(data.batch(MEMORY, indexes(0, 20_000)).end());
		assertThat(batches.get(0).dictionaries().get(0).valueCount()).isEqualTo(20_001);
		assertThat(cells(batches).get(0)).containsOnlyNulls().hasSize(2);
	}

	@Test
	void whenHundredsOfDeltasComeBeforeABatchThenItsValuesAreRight() {
		byte[] delta = new IpcBytes().dictionary(7, true, STRINGS, strings("v")).toByteArray();
		IpcBytes data = new IpcBytes().schema(message(STRINGS)).dictionary(7, false, STRINGS, strings("first"));
		for (int i = 0; i < 300; i++) {
			data.raw(delta);
		}
		data.dictionary(7, true, STRINGS, strings("last")).batch(MEMORY, indexes(0, 300, 301));
		assertThat(read(data.end())).containsExactly(List.of("first", "v", "last"));
	}

	/**
	 * Scenario: the dictionary comes after a batch that needs none of its values.
	 */
	@Test
	void whenTheDictionaryComesAfterANullBatchThenBothBatchesDecode() {
		byte[] data = new IpcBytes().schema(message(STRINGS))
			.batch(MEMORY, indexes(null, null))
			.dictionary(7, false, STRINGS, strings("a", "b"))
			.batch(MEMORY, indexes(1, 0))
			.end();
		List<@Nullable Object> nulls = new ArrayList<>();
		nulls.add(null);
		nulls.add(null);
		assertThat(read(data)).containsExactly(nulls, List.of("b", "a"));
	}

	@Test
	void whenAnIndexPointsIntoADictionaryThatNeverCameThenThatIsAnError() {
		byte[] data = new IpcBytes().schema(message(STRINGS)).batch(MEMORY, indexes(0)).end();
		assertThatExceptionOfType(InvalidRecordBatchException.class).isThrownBy(() -> read(data));
	}

	@Test
	void whenADictionaryIsReplacedOrGrowsThenEarlierBatchesKeepTheirs() {
		byte[] data = new IpcBytes().schema(message(STRINGS))
			.dictionary(7, false, STRINGS, strings("a", "b"))
			.batch(MEMORY, indexes(0, 1))
			.dictionary(7, true, STRINGS, strings("c"))
			.batch(MEMORY, indexes(0, 2))
			.dictionary(7, false, STRINGS, strings("x"))
			.batch(MEMORY, indexes(0, 0))
			.end();
		List<RecordBatch> batches = batches(data);
		assertThat(cells(batches)).containsExactly(List.of("a", "b"), List.of("a", "c"), List.of("x", "x"));
	}

	@Test
	void whenABooleanDictionaryGrowsThenTheEarlierVersionIsUntouched() {
		Field booleans = Field.nullable("DICT7", ArrowType.Bool.INSTANCE);
		Consumer<FieldVector> no = (vector) -> {
			((BitVector) vector).setSafe(0, 0);
			vector.setValueCount(1);
		};
		Consumer<FieldVector> yes = (vector) -> {
			((BitVector) vector).setSafe(0, 1);
			vector.setValueCount(1);
		};
		byte[] data = new IpcBytes().schema(message(booleans))
			.dictionary(7, false, booleans, no)
			.batch(MEMORY, indexes(0))
			.dictionary(7, true, booleans, yes)
			.batch(MEMORY, indexes(0, 1))
			.end();
		assertThat(cells(batches(data))).containsExactly(List.of(false), List.of(false, true));
	}

	/**
	 * Scenario: value types that Arrow's own writer can't copy.
	 */
	@Test
	void whenDictionariesHaveUnusualValueTypesThenTheyAreRead() {
		checkType(Field.nullable("DICT7", ArrowType.Null.INSTANCE), (vector) -> ((NullVector) vector).setValueCount(2),
				null);
		Field item = Field.nullable("item", INDEX);
		checkType(new Field("DICT7", FieldType.nullable(ArrowType.LargeListView.INSTANCE), List.of(item)), (vector) -> {
			LargeListViewVector list = (LargeListViewVector) vector;
			list.allocateNew();
			for (int i = 0; i < 2; i++) {
				list.startNewValue(i);
				((IntVector) list.getDataVector()).setSafe(i, 40 + i);
				list.endValue(i, 1);
			}
			list.setValueCount(2);
		}, List.of(41));
		checkType(new Field("DICT7", FieldType.notNullable(ArrowType.RunEndEncoded.INSTANCE),
				List.of(Field.notNullable("run_ends", INDEX), Field.nullable("values", INDEX))), (vector) -> {
					RunEndEncodedVector runs = (RunEndEncodedVector) vector;
					runs.allocateNew();
					((IntVector) runs.getRunEndsVector()).setSafe(0, 2);
					((IntVector) runs.getValuesVector()).setSafe(0, 9);
					runs.getRunEndsVector().setValueCount(1);
					runs.getValuesVector().setValueCount(1);
					runs.setValueCount(2);
				}, 9);
		checkType(new Field("DICT7", FieldType.nullable(ArrowType.Struct.INSTANCE), List.of(item)), (vector) -> {
			StructVector struct = (StructVector) vector;
			struct.allocateNew();
			for (int i = 0; i < 2; i++) {
				((IntVector) struct.getChild("item")).setSafe(i, 50 + i);
				struct.setIndexDefined(i);
			}
			struct.setValueCount(2);
		}, List.of(51));
	}

	@Test
	void whenTheValuesAreOfAnExtensionTypeThenTheyAreRead() {
		Field values = new Field("DICT7", FieldType.nullable(TestExtension.INSTANCE), null);
		ExtensionTypeRegistry.register(TestExtension.INSTANCE);
		try {
			byte[] data = new IpcBytes()
				.raw(IpcBytes.schemaMessage(
						new Schema(List.of(new Field("d",
								new FieldType(true, ArrowType.Utf8.INSTANCE, ENCODING, EXTENSION), null))),
						Endianness.Little, MetadataVersion.V5))
				.dictionary(7, false, STRINGS, strings("a", "b"))
				.batch(MEMORY, indexes(1))
				.end();
			List<RecordBatch> batches = batches(data);
			assertThat(batches.get(0).dictionaries().get(0).field()).isEqualTo(values);
			assertThat(cells(batches)).containsExactly(List.of("b"));
		}
		finally {
			ExtensionTypeRegistry.unregister(TestExtension.INSTANCE);
		}
	}

	private void checkType(Field values, Consumer<FieldVector> filler, @Nullable Object second) {
		byte[] data = new IpcBytes().schema(message(values))
			.dictionary(7, false, values, filler)
			.batch(MEMORY, indexes(1))
			.end();
		List<@Nullable Object> expected = new ArrayList<>();
		expected.add(second);
		assertThat(read(data)).as("%s", values).containsExactly(expected);
	}

	@Test
	void whenDictionaryMessagesMakeNoSenseThenTheErrorTellsWhich() {
		assertFails(new IpcBytes().schema(message(STRINGS)).dictionary(8, false, STRINGS, strings("a")).end(),
				"No field of the schema uses dictionary 8");
		assertFails(new IpcBytes().schema(message(STRINGS)).dictionary(7, true, STRINGS, strings("a")).end(),
				"begins with a delta");
	}

	@Test
	void whenAFileReplacesADictionaryThenThatIsAnError() {
		byte[] stream = new IpcBytes().schema(message(STRINGS))
			.dictionary(7, false, STRINGS, strings("a"))
			.batch(MEMORY, indexes(0))
			.dictionary(7, false, STRINGS, strings("b"))
			.end();
		byte[] file = new IpcBytes().raw("ARROW1\0\0".getBytes(StandardCharsets.US_ASCII)).raw(stream).toByteArray();
		assertFails(file, "is replaced");
	}

	@Test
	void whenTwoColumnsShareADictionaryOfDifferentTypesThenThatIsAnError() {
		Field one = new Field("a", new FieldType(true, ArrowType.Utf8.INSTANCE, ENCODING), null);
		Field other = new Field("b", new FieldType(true, INDEX, ENCODING), null);
		assertFails(new IpcBytes()
			.raw(IpcBytes.schemaMessage(new Schema(List.of(one, other)), Endianness.Little, MetadataVersion.V5))
			.end(), "'b'");
	}

	private void assertFails(byte[] data, String message) {
		assertThatExceptionOfType(ArrowDataException.class).isThrownBy(() -> read(data)).withMessageContaining(message);
	}

	/**
	 * The schema of a stream in memory format, with one column that is encoded by the
	 * values. Arrow's serializer takes the value type from the column itself.
	 */
	private static Schema message(Field values) {
		return new Schema(List
			.of(new Field("d", new FieldType(true, values.getType(), ENCODING, Map.of()), values.getChildren())));
	}

	private static Consumer<FieldVector> strings(String... values) {
		return (vector) -> {
			for (int i = 0; i < values.length; i++) {
				((VarCharVector) vector).setSafe(i, values[i].getBytes(StandardCharsets.UTF_8));
			}
			vector.setValueCount(values.length);
		};
	}

	private static Consumer<VectorSchemaRoot> indexes(@Nullable Integer... values) {
		return (root) -> {
			IntVector vector = (IntVector) root.getVector(0);
			for (int i = 0; i < values.length; i++) {
				if (values[i] != null) {
					vector.setSafe(i, values[i]);
				}
			}
			vector.setValueCount(values.length);
			root.setRowCount(values.length);
		};
	}

	private List<List<@Nullable Object>> read(byte[] data) {
		return cells(batches(data));
	}

	/**
	 * Decodes all batches before any is looked at, so that later messages had their
	 * chance to change them.
	 */
	private List<RecordBatch> batches(byte[] data) {
		List<RecordBatch> batches = new ArrayList<>();
		try (IpcDecoder decoder = new IpcDecoder(this.engine.allocator(), IpcTarget.UNKNOWN_SIZE)) {
			ByteBuffer source = ByteBuffer.wrap(data);
			while (source.hasRemaining()) {
				RecordBatch batch = decoder.decode(source);
				if (batch != null) {
					batches.add(batch);
				}
			}
			decoder.finish();
			return batches;
		}
		catch (ArrowDataException ex) {
			batches.forEach(RecordBatch::close);
			throw ex;
		}
	}

	private List<List<@Nullable Object>> cells(List<RecordBatch> batches) {
		List<List<@Nullable Object>> cells = new ArrayList<>();
		for (RecordBatch batch : batches) {
			try (batch; OpenBatch open = batch.open(this.engine.allocator())) {
				cells.add(CellComparison.cells(open.root(), open.dictionaries()).get(0));
			}
		}
		return cells;
	}

	/**
	 * Text under another name.
	 */
	private static final class TestExtension extends ExtensionType {

		static final TestExtension INSTANCE = new TestExtension();

		@Override
		public ArrowType storageType() {
			return ArrowType.Utf8.INSTANCE;
		}

		@Override
		public String extensionName() {
			return "test.dictionary.text";
		}

		@Override
		public boolean extensionEquals(ExtensionType other) {
			return other == this;
		}

		@Override
		public ArrowType deserialize(ArrowType storageType, String serializedData) {
			return this;
		}

		@Override
		public String serialize() {
			return "";
		}

		@Override
		public FieldVector getNewVector(String name, FieldType fieldType, BufferAllocator allocator) {
			return new TestVector(name, fieldType, allocator, new VarCharVector(name, allocator));
		}

	}

	private static final class TestVector extends ExtensionTypeVector<VarCharVector> {

		private final Field field;

		TestVector(String name, FieldType type, BufferAllocator allocator, VarCharVector storage) {
			super(name, allocator, storage);
			this.field = new Field(name, type, null);
		}

		@Override
		public Field getField() {
			return this.field;
		}

		@Override
		public Object getObject(int index) {
			return getUnderlyingVector().getObject(index);
		}

		@Override
		public int hashCode(int index) {
			return getUnderlyingVector().hashCode(index);
		}

		@Override
		public int hashCode(int index, ArrowBufHasher hasher) {
			return getUnderlyingVector().hashCode(index, hasher);
		}

	}

}
