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

package org.lance.spring.dataset;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.IntervalUnit;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.UnionMode;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.stream.BatchMemory;
import org.lance.spring.stream.InvalidRecordBatchException;
import org.lance.spring.stream.RecordBatch;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which types go through a dataset unchanged, and that all others are refused
 * before native code sees them.
 */
class LanceTypesTests extends AbstractLanceTests {

	private static final ArrowType INT = new ArrowType.Int(32, true);

	private static final ArrowType BOOL = new ArrowType.Bool();

	private static final ArrowType UTF8 = new ArrowType.Utf8();

	private static final ArrowType STRUCT = new ArrowType.Struct();

	private static final ArrowType LIST = new ArrowType.List();

	private static final DictionaryEncoding ENCODING = new DictionaryEncoding(7, false, new ArrowType.Int(8, true));

	static Stream<List<Field>> storable() {
		List<Field> scalars = new ArrayList<>();
		for (ArrowType type : scalars()) {
			scalars.add(Field.nullable("c" + scalars.size(), type));
		}
		List<Field> fields = new ArrayList<>();
		fields.add(field(new ArrowType.Null()));
		fields.add(Field.notNullable("c", INT));
		fields.add(field(new ArrowType.LargeList(), item(UTF8)));
		fields.add(field(LIST, item(LIST, item(STRUCT, Field.nullable("x", INT)))));
		for (ArrowType type : List.of(INT, BOOL, UTF8, new ArrowType.Decimal(10, 2, 128))) {
			fields.add(field(LIST, item(type)));
			fields.add(field(STRUCT, Field.nullable("x", type), Field.notNullable("y", BOOL)));
			fields.add(field(LIST, item(STRUCT, Field.nullable("x", type))));
		}
		for (ArrowType type : List.of(new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE), BOOL,
				new ArrowType.FixedSizeBinary(3))) {
			ArrowType vector = new ArrowType.FixedSizeList(3);
			fields.add(field(vector, item(type)));
			if (type != BOOL) {
				fields.add(field(LIST, item(vector, item(type))));
			}
			fields.add(field(STRUCT, Field.nullable("x", BOOL), item(vector, item(vector, item(type)))));
		}
		return Stream.concat(Stream.of(scalars), fields.stream().map(List::of));
	}

	private static List<ArrowType> scalars() {
		List<ArrowType> types = new ArrayList<>(List.of(BOOL, UTF8, new ArrowType.LargeUtf8(), new ArrowType.Binary(),
				new ArrowType.LargeBinary(), new ArrowType.FixedSizeBinary(5), new ArrowType.Decimal(20, 3, 128),
				new ArrowType.Decimal(40, 3, 256), new ArrowType.Date(DateUnit.DAY),
				new ArrowType.Date(DateUnit.MILLISECOND), new ArrowType.Time(TimeUnit.SECOND, 32),
				new ArrowType.Time(TimeUnit.NANOSECOND, 64)));
		for (int width : new int[] { 8, 16, 32, 64 }) {
			types.add(new ArrowType.Int(width, true));
			types.add(new ArrowType.Int(width, false));
		}
		for (FloatingPointPrecision precision : FloatingPointPrecision.values()) {
			types.add(new ArrowType.FloatingPoint(precision));
		}
		for (TimeUnit unit : TimeUnit.values()) {
			types.add(new ArrowType.Timestamp(unit, null));
			types.add(new ArrowType.Timestamp(unit, "Europe/Paris"));
			types.add(new ArrowType.Timestamp(unit, "+0800"));
			types.add(new ArrowType.Duration(unit));
		}
		return types;
	}

	static Stream<Field> refused() {
		Field entries = new Field("entries", FieldType.notNullable(STRUCT),
				List.of(Field.notNullable("key", UTF8), Field.nullable("value", INT)));
		ArrowType vector = new ArrowType.FixedSizeList(2);
		Field index = new Field("item", new FieldType(true, ENCODING.getIndexType(), ENCODING), List.of());
		Field runs = new Field("c", FieldType.notNullable(ArrowType.RunEndEncoded.INSTANCE),
				List.of(Field.notNullable("run_ends", INT), Field.nullable("values", INT)));
		Field deep = item(INT);
		for (int i = 0; i < 70; i++) {
			deep = item(LIST, deep);
		}
		Field deepVector = item(INT);
		for (int i = 0; i < 70; i++) {
			deepVector = item(new ArrowType.FixedSizeList(1), deepVector);
		}
		return Stream.of(field(vector, item(UTF8)), field(vector, item(LIST, item(INT))), field(vector, index),
				field(vector, item(STRUCT, Field.nullable("x", INT))), field(vector, item(new ArrowType.Null())),
				field(vector, item(vector, item(UTF8))), field(LIST, index), field(LIST, item(STRUCT, index)),
				field(LIST, item(vector, item(BOOL))),
				field(new ArrowType.LargeList(), item(vector, item(vector, item(INT)))),
				field(new ArrowType.FixedSizeList(0), item(INT)), field(STRUCT),
				field(STRUCT, Field.nullable("x", INT), Field.nullable("x", INT)),
				field(STRUCT, Field.nullable("x", new ArrowType.Null())), field(new ArrowType.Map(false), entries),
				field(new ArrowType.Utf8View()), field(new ArrowType.BinaryView()),
				field(new ArrowType.ListView(), item(INT)), field(new ArrowType.LargeListView(), item(INT)),
				field(new ArrowType.Timestamp(TimeUnit.MICROSECOND, "+08:00")),
				field(vector, item(new ArrowType.Timestamp(TimeUnit.SECOND, "-05:30"))),
				field(new ArrowType.Interval(IntervalUnit.DAY_TIME)),
				field(new ArrowType.Interval(IntervalUnit.MONTH_DAY_NANO)),
				field(new ArrowType.Union(UnionMode.Sparse, new int[] { 0 }), Field.nullable("x", INT)),
				field(new ArrowType.FixedSizeBinary(0)), field(new ArrowType.Decimal(5, 2, 32)),
				field(LIST, item(new ArrowType.Utf8View())), runs, field(LIST, deep),
				field(new ArrowType.FixedSizeList(1), deepVector));
	}

	private static Field field(ArrowType type, Field... children) {
		return new Field("c", FieldType.nullable(type), List.of(children));
	}

	private static Field item(ArrowType type, Field... children) {
		return new Field("item", FieldType.nullable(type), List.of(children));
	}

	@ParameterizedTest
	@MethodSource("storable")
	void whenTypeIsStorableThenValuesComeBack(List<Field> columns) throws Exception {
		List<Field> fields = new ArrayList<>(columns);
		fields.add(Field.nullable("flag", BOOL));
		Schema schema = new Schema(fields);
		List<List<Object>> expected = new ArrayList<>();
		int[] sizes = { 11, 1, 0, 150, 3 };
		TestSource source = source(schema, sizes.length,
				(i) -> random(schema, new Filler(i, 0), sizes[i], null, expected));
		write(source, LanceWriteMode.CREATE);
		assertThat(await(this.template.describe(this.uri)).schema()).isEqualTo(schema);
		assertThat(rows(LanceScan.all())).isEqualTo(expected);
		assertThat(rows(LanceScan.all().batchSize(13).limit(101))).isEqualTo(expected.subList(0, 101));
		List<List<Object>> flagged = expected.stream()
			.filter((row) -> Boolean.TRUE.equals(row.get(columns.size())))
			.toList();
		assertThat(rows(LanceScan.all().filter("flag").batchSize(7))).isEqualTo(flagged);
		write(source(schema, 1, (i) -> random(schema, new Filler(9, 0), 10, null, expected)), LanceWriteMode.APPEND);
		assertThat(rows(LanceScan.all())).isEqualTo(expected);
	}

	@Test
	void whenListsAreInStructsInListsThenValuesComeBack() throws Exception {
		Field inner = field(LIST, item(UTF8));
		Field struct = new Field("s", FieldType.notNullable(STRUCT), List.of(Field.nullable("x", INT), inner));
		Schema schema = new Schema(List.of(field(LIST, item(LIST, struct))));
		List<List<Object>> expected = new ArrayList<>();
		write(source(schema, 2, (i) -> random(schema, new Filler(i, 0), 100, null, expected)), LanceWriteMode.CREATE);
		assertThat(rows(LanceScan.all())).isEqualTo(expected);
	}

	@ParameterizedTest
	@MethodSource("refused")
	void whenTypeIsNotStorableThenColumnIsNamedAndNothingIsRead(Field field) throws Exception {
		TestSource source = source(new Schema(List.of(field)), 1, (i) -> {
			throw new AssertionError("read");
		});
		assertThat(failure(this.template.write(this.uri, source, LanceWriteMode.CREATE)))
			.isInstanceOfSatisfying(UnsupportedColumnException.class,
					(ex) -> assertThat(ex.getColumn()).startsWith("c"))
			.hasMessageContaining("'c");
		assertThat(source.isClosed()).isTrue();
	}

	@Test
	void whenVectorsHaveNullsOnlyThenBatchIsRefusedBecauseNobodyCouldReadIt() throws Exception {
		Field vector = field(new ArrowType.FixedSizeList(3), item(INT));
		Schema schema = new Schema(List.of(field(STRUCT, vector)));
		TestSource source = source(schema, 1, (i) -> {
			try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
				StructVector struct = (StructVector) root.getVector(0);
				FixedSizeListVector list = (FixedSizeListVector) struct.getChild("c");
				for (int row = 0; row < 10; row++) {
					struct.setIndexDefined(row);
					list.setNotNull(row);
				}
				root.setRowCount(10);
				return RecordBatch.copyOf(root, null, this.engine.allocator());
			}
		});
		assertThat(failure(this.template.write(this.uri, source, LanceWriteMode.CREATE)))
			.isInstanceOf(InvalidRecordBatchException.class)
			.hasMessageContaining("'c.c'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "a.b", "a`b", "a\"b", "a\0b", "_rowid", "_rowaddr", "_rowoffset" })
	void whenNameIsNotStorableThenItIsRefused(String name) throws Exception {
		Schema schema = new Schema(List.of(Field.nullable(name, INT)));
		assertThat(failure(this.template.write(this.uri, source(schema, 0, (i) -> null), LanceWriteMode.CREATE)))
			.isInstanceOf(UnsupportedColumnException.class);
	}

	@Test
	void whenThereAreNoColumnsOrOneTwiceThenSchemaIsRefused() throws Exception {
		Schema twice = new Schema(List.of(Field.nullable("c", INT), Field.nullable("c", INT)));
		for (Schema schema : List.of(new Schema(List.of()), twice)) {
			assertThat(failure(this.template.write(this.uri, source(schema, 0, (i) -> null), LanceWriteMode.CREATE)))
				.isInstanceOf(UnsupportedColumnException.class);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2, 3 })
	void whenDictionariesChangeThenValuesComeBack(int kind) throws Exception {
		Field index = new Field("c", new FieldType(true, ENCODING.getIndexType(), ENCODING), List.of());
		Field column = switch (kind) {
			case 1 -> field(STRUCT, index, Field.nullable("flag", BOOL));
			default -> index;
		};
		ArrowType type = switch (kind) {
			case 2 -> new ArrowType.Int(64, true);
			case 3 -> new ArrowType.LargeBinary();
			default -> UTF8;
		};
		Field values = Field.notNullable("values", type);
		Schema schema = new Schema(List.of(column));
		List<List<Object>> expected = new ArrayList<>();
		TestSource source = source(schema, 6, (i) -> dictionaryBatch(schema, values, i, expected));
		write(source, LanceWriteMode.CREATE);
		assertThat(rows(LanceScan.all())).isEqualTo(expected);
		write(source(schema, 2, (i) -> dictionaryBatch(schema, values, 50 + i, expected)), LanceWriteMode.APPEND);
		assertThat(rows(LanceScan.all())).isEqualTo(expected);
	}

	/**
	 * Two batches share each dictionary.
	 */
	private RecordBatch dictionaryBatch(Schema schema, Field values, int number, List<List<Object>> expected) {
		int size = 5 + number / 2;
		try (FieldVector vector = values.createVector(this.engine.allocator())) {
			new Filler(number / 2, 0).fill(vector, size);
			return random(schema, new Filler(number, size), 20,
					new DictionaryProvider.MapDictionaryProvider(new Dictionary(vector, ENCODING)), expected);
		}
	}

	private RecordBatch random(Schema schema, Filler filler, int rows, DictionaryProvider dictionaries,
			List<List<Object>> expected) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			root.getFieldVectors().forEach((vector) -> filler.fill(vector, rows));
			root.setRowCount(rows);
			expected.addAll(rows(root, dictionaries));
			return RecordBatch.copyOf(root, dictionaries, this.engine.allocator());
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 4, 8 })
	void whenBuffersAreNotAlignedForNativeCodeThenTheyAreCopied(int shift) throws Exception {
		Schema schema = new Schema(
				List.of(field(new ArrowType.Decimal(20, 3, 128)), Field.nullable("id", new ArrowType.Int(64, true)),
						Field.nullable("name", UTF8), Field.nullable("text", new ArrowType.LargeUtf8())));
		List<List<Object>> expected = new ArrayList<>();
		TestSource source = source(schema, 3, (i) -> {
			try (RecordBatch batch = random(schema, new Filler(i, 0), 10, null, expected)) {
				return shifted(batch, shift);
			}
		});
		write(source, LanceWriteMode.CREATE);
		assertThat(rows(LanceScan.all())).isEqualTo(expected);
	}

	private RecordBatch shifted(RecordBatch batch, int shift) {
		List<ArrowBuf> buffers = batch.body().getBuffers();
		long size = buffers.stream().mapToLong((buffer) -> buffer.readableBytes() + 64).sum();
		ArrowBuf target = this.engine.allocator().buffer(size + 64);
		BatchMemory memory = new BatchMemory(this.engine.allocator(), size, target::close);
		long position = -target.memoryAddress() & 63;
		List<ArrowBuf> views = new ArrayList<>();
		for (ArrowBuf buffer : buffers) {
			target.setBytes(position + shift, buffer, 0, buffer.readableBytes());
			views.add(memory.buffer(target.memoryAddress() + position + shift, buffer.readableBytes()));
			position += (buffer.readableBytes() + 63) & -64;
		}
		ArrowRecordBatch body = new ArrowRecordBatch(batch.rowCount(), batch.body().getNodes(), views,
				NoCompressionCodec.DEFAULT_BODY_COMPRESSION, List.of(), false, false);
		return RecordBatch.over(batch.schema(), body, batch.dictionaries(), memory);
	}

	@Test
	void whenEmptySourceKnowsItsDictionariesThenTableIsCreated() throws Exception {
		Field index = new Field("c", new FieldType(true, ENCODING.getIndexType(), ENCODING), List.of());
		Schema schema = new Schema(List.of(index));
		Map<Long, Field> fields = new LinkedHashMap<>(Map.of(7L, Field.nullable("values", UTF8)));
		TestSource source = new TestSource(schema, fields, () -> org.lance.spring.stream.RecordBatchStream
			.background(schema, fields, List.<RecordBatch>of().iterator(), this.background, 1));
		write(source, LanceWriteMode.CREATE);
		Field stored = await(this.template.describe(this.uri)).schema().findField("c");
		assertThat(stored.getDictionary()).isNotNull();
		assertThat(stored.getType()).isEqualTo(ENCODING.getIndexType());
	}

	@Test
	void whenEmptySourceDoesNotKnowItsDictionariesThenColumnIsNamed() throws Exception {
		Field index = new Field("c", new FieldType(true, ENCODING.getIndexType(), ENCODING), List.of());
		assertThat(failure(this.template.write(this.uri, source(new Schema(List.of(index)), 0, (i) -> null),
				LanceWriteMode.CREATE)))
			.isInstanceOf(UnsupportedColumnException.class)
			.hasMessageContaining("'c'");
	}

	@ParameterizedTest
	@MethodSource("unstorableDictionaryValues")
	void whenDictionaryHasUnstorableValuesThenColumnIsNamed(Field values) throws Exception {
		Field index = new Field("c", new FieldType(true, ENCODING.getIndexType(), ENCODING), List.of());
		Schema schema = new Schema(List.of(index));
		TestSource source = source(schema, 2, (i) -> dictionaryBatch(schema, values, i, new ArrayList<>()));
		assertThat(failure(this.template.write(this.uri, source, LanceWriteMode.CREATE)))
			.isInstanceOf(UnsupportedColumnException.class)
			.hasMessageContaining("'c'");
		Awaitility.await().until(() -> this.background.openStreams() == 0);
	}

	static Stream<Field> unstorableDictionaryValues() {
		return Stream.of(field(new ArrowType.Timestamp(TimeUnit.SECOND, null)),
				field(new ArrowType.Decimal(10, 2, 128)), field(new ArrowType.Date(DateUnit.DAY)),
				field(new ArrowType.FixedSizeBinary(4)), field(LIST, item(INT)),
				field(STRUCT, Field.nullable("x", INT)));
	}

	@Test
	void whenDictionaryOfAppendedSourceHasOtherValuesTypeThenColumnIsNamed() throws Exception {
		Field index = new Field("c", new FieldType(true, ENCODING.getIndexType(), ENCODING), List.of());
		Schema schema = new Schema(List.of(index));
		List<List<Object>> expected = new ArrayList<>();
		write(source(schema, 1, (i) -> dictionaryBatch(schema, field(UTF8), i, expected)), LanceWriteMode.CREATE);
		TestSource other = source(schema, 1,
				(i) -> dictionaryBatch(schema, field(new ArrowType.Int(64, true)), i, new ArrayList<>()));
		assertThat(failure(this.template.write(this.uri, other, LanceWriteMode.APPEND)))
			.isInstanceOf(org.lance.spring.stream.SchemaMismatchException.class)
			.hasMessageContaining("'c'");
		TestSource plain = source(new Schema(List.of(field(UTF8))), 0, (i) -> null);
		assertThat(failure(this.template.write(this.uri, plain, LanceWriteMode.APPEND)))
			.isInstanceOf(org.lance.spring.stream.SchemaMismatchException.class)
			.hasMessageContaining("'c'");
		assertThat(rows(LanceScan.all())).isEqualTo(expected);
	}

}
