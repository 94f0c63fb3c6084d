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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.source.LanceSchema.LanceField;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.SizeHint;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.GoldenFiles;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * How Lance stores a schema, what it can't store, and the peek at the first batch.
 */
class LanceSchemaTests {

	private static final ArrowType.Int INT = new ArrowType.Int(32, true);

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@Test
	void whenTypesAreScalarThenTheirLogicalTypesAreThoseOfLance() {
		Map<ArrowType, String> expected = new HashMap<>();
		expected.put(ArrowType.Null.INSTANCE, "null");
		expected.put(ArrowType.Bool.INSTANCE, "bool");
		expected.put(new ArrowType.Int(8, false), "uint8");
		expected.put(new ArrowType.Int(64, true), "int64");
		expected.put(new ArrowType.FloatingPoint(FloatingPointPrecision.HALF), "halffloat");
		expected.put(new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE), "float");
		expected.put(new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE), "double");
		expected.put(new ArrowType.Decimal(7, 3, 128), "decimal:128:7:3");
		expected.put(new ArrowType.Decimal(40, -2, 256), "decimal:256:40:-2");
		expected.put(ArrowType.Utf8.INSTANCE, "string");
		expected.put(ArrowType.LargeUtf8.INSTANCE, "large_string");
		expected.put(ArrowType.Binary.INSTANCE, "binary");
		expected.put(ArrowType.LargeBinary.INSTANCE, "large_binary");
		expected.put(new ArrowType.FixedSizeBinary(16), "fixed_size_binary:16");
		expected.put(new ArrowType.Date(DateUnit.DAY), "date32:day");
		expected.put(new ArrowType.Date(DateUnit.MILLISECOND), "date64:ms");
		expected.put(new ArrowType.Time(TimeUnit.MILLISECOND, 32), "time32:ms");
		expected.put(new ArrowType.Time(TimeUnit.NANOSECOND, 64), "time64:ns");
		expected.put(new ArrowType.Timestamp(TimeUnit.MICROSECOND, null), "timestamp:us:-");
		expected.put(new ArrowType.Timestamp(TimeUnit.SECOND, "Europe/Berlin"), "timestamp:s:Europe/Berlin");
		expected.put(new ArrowType.Duration(TimeUnit.NANOSECOND), "duration:ns");
		expected.forEach((type, logical) -> assertThat(single(Field.nullable("x", type)).logicalType()).as("%s", type)
			.isEqualTo(logical));
	}

	@Test
	void whenTypesAreNestedThenIdsAreDepthFirst() {
		Field struct = new Field("s", FieldType.notNullable(ArrowType.Struct.INSTANCE),
				List.of(Field.nullable("a", INT), list("l", Field.nullable("item", INT))));
		Field structs = list("ls",
				new Field("item", FieldType.nullable(ArrowType.Struct.INSTANCE), List.of(Field.nullable("a", INT))));
		Field vector = new Field("v", FieldType.nullable(new ArrowType.FixedSizeList(128)),
				List.of(Field.nullable("item", new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE))));
		Field map = new Field("m", FieldType.nullable(new ArrowType.Map(false)),
				List.of(new Field("entries", FieldType.notNullable(ArrowType.Struct.INSTANCE),
						List.of(Field.notNullable("key", ArrowType.Utf8.INSTANCE), Field.nullable("value", INT)))));
		LanceSchema schema = LanceSchemas.of(new Schema(List.of(struct, structs, vector, map)), Map.of());
		assertThat(schema.fields()).extracting(LanceField::logicalType)
			.containsExactly("struct", "list.struct", "fixed_size_list:float:128", "map");
		assertThat(describe(schema.fields())).isEqualTo("0<-1 s(1<0 a,2<0 l(3<2 item)),4<-1 ls(5<4 item(6<5 a)),"
				+ "7<-1 v,8<-1 m(9<8 entries(10<9 key,11<9 value))");
		assertThat(schema.fields().get(0).nullable()).isFalse();
	}

	private static String describe(List<LanceField> fields) {
		return fields.stream()
			.map((field) -> field.id() + "<" + field.parentId() + " " + field.name()
					+ (field.children().isEmpty() ? "" : "(" + describe(field.children()) + ")"))
			.collect(java.util.stream.Collectors.joining(","));
	}

	@Test
	void whenAColumnIsADictionaryThenItsLogicalTypeHasValueAndIndex() {
		Field field = dictionary("d", 5, new ArrowType.Int(8, true));
		LanceSchema schema = LanceSchemas.of(new Schema(List.of(field)),
				Map.of(5L, Field.nullable("DICT5", ArrowType.Utf8.INSTANCE)));
		assertThat(schema.fields().get(0).logicalType()).isEqualTo("dict:string:int8:false");
		assertThat(schema.fields().get(0).dictionaryId()).isEqualTo(5L);
	}

	@Test
	void whenLanceCanNotStoreASchemaThenTheErrorNamesThePath() {
		Field struct = new Field("s", FieldType.nullable(ArrowType.Struct.INSTANCE),
				List.of(Field.nullable("a", INT), Field.nullable("a", INT)));
		assertFails("s.a", "twice", struct);
		assertFails("x", "twice", Field.nullable("x", INT), Field.nullable("x", INT));
		Field dotted = new Field("s", FieldType.nullable(ArrowType.Struct.INSTANCE), List.of(Field.nullable("b.c", INT),
				new Field("b", FieldType.nullable(ArrowType.Struct.INSTANCE), List.of(Field.nullable("c", INT)))));
		assertFails("s.b.c", "twice", dotted);
		assertFails("a.b", "'.'", Field.nullable("a.b", INT));
		assertFails("l.item", "Cast it", list("l", Field.nullable("item", ArrowType.Utf8View.INSTANCE)));
		assertFails("t", "time zone '+08:00'",
				Field.nullable("t", new ArrowType.Timestamp(TimeUnit.MICROSECOND, "+08:00")));
		assertFails("v", "size 0", new Field("v", FieldType.nullable(new ArrowType.FixedSizeList(0)),
				List.of(Field.nullable("item", INT))));
		assertFails("m", "sorted",
				new Field("m", FieldType.nullable(new ArrowType.Map(true)), List.of(Field.nullable("e", INT))));
	}

	@Test
	void whenADictionaryCanNotBeStoredThenTheErrorNamesThePath() {
		DictionaryEncoding encoding = new DictionaryEncoding(1, false, INT);
		Field wrongIndex = new Field("d", new FieldType(true, ArrowType.Utf8.INSTANCE, encoding), null);
		assertFails("s.d", "indexes of type Utf8",
				new Field("s", FieldType.nullable(ArrowType.Struct.INSTANCE), List.of(wrongIndex)));
		assertFails("d", "unknown type", dictionary("d", 1, INT));
		for (Field values : List.of(list("DICT1", Field.nullable("item", INT)),
				Field.nullable("DICT1", new ArrowType.Timestamp(TimeUnit.SECOND, null)), dictionary("DICT1", 2, INT))) {
			assertThatExceptionOfType(LanceSchemaException.class)
				.isThrownBy(() -> LanceSchemas.of(new Schema(List.of(dictionary("d", 1, INT))), Map.of(1L, values)))
				.withMessageContaining("'d'");
		}
	}

	@Test
	void whenTheFirstBatchIsPeekedThenTheStreamStillHasIt() throws Exception {
		Schema schema = new Schema(List.of(Field.nullable("x", INT)));
		StreamAndSchema both = EngineExtension.await(source(schema, 3).intoStreamAndSchema());
		assertThat(both.schema().fields()).hasSize(1);
		assertThat(both.stream().sizeHint()).isNotEqualTo(SizeHint.exactly(0));
		List<RecordBatch> batches = EngineExtension.await(both.stream().collect());
		assertThat(batches).extracting(RecordBatch::rowCount).containsExactly(0, 1, 2);
		batches.forEach(RecordBatch::close);
	}

	@Test
	void whenThePeekedStreamIsClosedThenItsFirstBatchIsGivenBack() throws Exception {
		Schema schema = new Schema(List.of(Field.nullable("x", INT)));
		StreamAndSchema both = EngineExtension.await(source(schema, 3).intoStreamAndSchema());
		both.stream().close();
		EngineExtension.await(both.stream().closed());
	}

	@Test
	void whenLanceCanNotStoreTheSchemaThenTheStreamIsClosed() throws Exception {
		Schema schema = new Schema(List.of(Field.nullable("a.b", INT)));
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> EngineExtension.await(source(schema, 2).intoStreamAndSchema()))
			.withCauseInstanceOf(LanceSchemaException.class);
	}

	@Test
	void whenThereIsNoBatchThenTheDictionariesOfTheStreamAreUsed() throws Exception {
		StreamAndSchema both = peek("generated_dictionary", true);
		assertThat(EngineExtension.await(both.stream().next())).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "generated_dictionary", "generated_dictionary_unsigned" })
	void whenColumnsAreDictionariesThenTheFirstBatchTellsTheirTypes(String name) throws Exception {
		StreamAndSchema both = peek(name, false);
		assertThat(both.schema().fields()).allSatisfy((field) -> {
			assertThat(field.logicalType()).startsWith("dict:");
			assertThat(field.dictionaryId()).isNotNull();
		});
		both.stream().close();
		EngineExtension.await(both.stream().closed());
	}

	/**
	 * Lance stores no dictionary of lists; but the path shows that the nested one was
	 * found.
	 */
	@Test
	void whenDictionariesAreNestedThenTheyAreFound() throws Exception {
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> peek("generated_nested_dictionary", false))
			.withCauseInstanceOf(LanceSchemaException.class)
			.withMessageContaining("has a dictionary of");
	}

	private StreamAndSchema peek(String name, boolean schemaOnly) throws Exception {
		byte[] stream = java.nio.file.Files.readAllBytes(GoldenFiles.stream(name));
		byte[] data = schemaOnly ? new IpcBytes().raw(IpcBytes.messages(stream).get(0)).end() : stream;
		IpcFeed feed = this.engine.closeLater(factory(100).ipcFeed());
		feed.feed(ByteBuffer.wrap(data));
		EngineExtension.await(feed.complete());
		return EngineExtension.await(EngineExtension.await(feed.source()).intoStreamAndSchema());
	}

	private StreamingWriteSource source(Schema schema, int batches) {
		VectorSchemaRoot root = this.engine.closeLater(VectorSchemaRoot.create(schema, this.engine.allocator()));
		return factory(0).fromRoots(schema, null, java.util.stream.IntStream.range(0, batches).mapToObj((i) -> {
			root.allocateNew();
			root.setRowCount(i);
			return root;
		}).iterator());
	}

	private StreamingWriteSourceFactory factory(int readAhead) {
		return new StreamingWriteSourceFactory(this.engine.allocator(), this.engine.background(1), readAhead);
	}

	private static LanceField single(Field field) {
		return LanceSchemas.of(new Schema(List.of(field)), Map.of()).fields().get(0);
	}

	private static Field list(String name, Field item) {
		return new Field(name, FieldType.nullable(new ArrowType.List()), List.of(item));
	}

	private static Field dictionary(String name, long id, ArrowType.Int index) {
		return new Field(name, new FieldType(true, index, new DictionaryEncoding(id, false, index)), null);
	}

	private static void assertFails(String path, String problem, Field... fields) {
		assertThatExceptionOfType(LanceSchemaException.class)
			.isThrownBy(() -> LanceSchemas.of(new Schema(List.of(fields)), Map.of()))
			.withMessageContaining("'" + path + "'")
			.withMessageContaining(problem)
			.satisfies((ex) -> assertThat(ex.getPath()).isEqualTo(path));
	}

}
