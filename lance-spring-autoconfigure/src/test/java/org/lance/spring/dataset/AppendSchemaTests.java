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

import java.util.List;

import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.SchemaMismatchException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of {@link AppendSchema}. Whatever it accepts is also written, so that it never
 * accepts what Lance refuses.
 */
class AppendSchemaTests extends AbstractLanceTests {

	private static final ArrowType INT = new ArrowType.Int(32, true);

	private static final ArrowType UTF8 = new ArrowType.Utf8();

	private static final Field STRUCT = struct("s", Field.nullable("x", INT), Field.nullable("y", UTF8));

	private static final Field VECTOR = vector(3, "item");

	private static final Schema TABLE = new Schema(List.of(Field.notNullable("id", INT), Field.nullable("name", UTF8),
			STRUCT, VECTOR, list("l", Field.nullable("item", INT)),
			Field.nullable("t", new ArrowType.Timestamp(TimeUnit.MICROSECOND, "UTC"))));

	private static Field struct(String name, Field... children) {
		return new Field(name, FieldType.nullable(new ArrowType.Struct()), List.of(children));
	}

	private static Field vector(int size, String item) {
		return new Field("v", FieldType.nullable(new ArrowType.FixedSizeList(size)),
				List.of(Field.nullable(item, INT)));
	}

	private static Field list(String name, Field item) {
		return new Field(name, FieldType.nullable(new ArrowType.List()), List.of(item));
	}

	private static final Field ID = Field.notNullable("id", INT);

	@Test
	void whenSchemaIsTheSameThenItIsAccepted() throws Exception {
		accepted(TABLE);
	}

	@Test
	void whenOrderDiffersThenItIsAccepted() throws Exception {
		accepted(new Schema(List.of(VECTOR, struct("s", Field.nullable("y", UTF8), Field.nullable("x", INT)), ID)));
	}

	@Test
	void whenNullableColumnsAreMissingThenItIsAccepted() throws Exception {
		accepted(new Schema(List.of(ID)));
		accepted(new Schema(List.of(ID, struct("s", Field.nullable("y", UTF8)))));
	}

	@Test
	void whenColumnAllowsNullsThatTheTableDoesNotThenNullsAreStillChecked() throws Exception {
		Schema source = new Schema(List.of(Field.nullable("id", INT), Field.notNullable("name", UTF8)));
		Schema checked = AppendSchema.check(TABLE, source);
		assertThat(checked.findField("id").isNullable()).isFalse();
		assertThat(checked.findField("name").isNullable()).isFalse();
	}

	@Test
	void whenElementsOfVectorHaveAnotherNameThenItIsAccepted() throws Exception {
		accepted(new Schema(List.of(ID, vector(3, "$data$"))));
	}

	@Test
	void whenRequiredColumnIsMissingThenItIsNamed() throws Exception {
		refused("'id'", new Schema(List.of(Field.nullable("name", UTF8))));
	}

	@Test
	void whenColumnIsUnknownThenItIsNamed() throws Exception {
		refused("'other'", new Schema(List.of(ID, Field.nullable("other", INT))));
		refused("'s.z'", new Schema(List.of(ID, struct("s", Field.nullable("z", INT)))));
		refused("'ID'", new Schema(List.of(ID, Field.nullable("ID", INT))));
	}

	@Test
	void whenTypeDiffersThenColumnIsNamed() throws Exception {
		refused("'name'", new Schema(List.of(ID, Field.nullable("name", new ArrowType.LargeUtf8()))));
		refused("'s.x'", new Schema(List.of(ID, struct("s", Field.nullable("x", UTF8)))));
		refused("'v'", new Schema(List.of(ID, vector(4, "item"))));
		refused("'t'",
				new Schema(List.of(ID, Field.nullable("t", new ArrowType.Timestamp(TimeUnit.MICROSECOND, null)))));
		refused("'l.$data$'", new Schema(List.of(ID, list("l", Field.nullable("$data$", INT)))));
	}

	@Test
	void whenColumnIsAnIndexInOneAndANumberInTheOtherThenItIsNamed() {
		ArrowType.Int index = new ArrowType.Int(8, true);
		Schema plain = new Schema(List.of(Field.nullable("d", index)));
		Schema encoded = new Schema(List
			.of(new Field("d", new FieldType(true, index, new DictionaryEncoding(1, false, index)), List.of())));
		assertThat(AppendSchema.check(encoded, encoded)).isEqualTo(encoded);
		for (List<Schema> pair : List.of(List.of(plain, encoded), List.of(encoded, plain))) {
			assertThatExceptionOfType(SchemaMismatchException.class)
				.isThrownBy(() -> AppendSchema.check(pair.get(0), pair.get(1)))
				.withMessageContaining("'d'")
				.withMessageContaining("index of a dictionary");
		}
	}

	private void accepted(Schema schema) throws Exception {
		AppendSchema.check(TABLE, schema);
		write(source(TABLE, 1, (i) -> random(TABLE)), LanceWriteMode.OVERWRITE);
		write(source(schema, 1, (i) -> random(schema)), LanceWriteMode.APPEND);
		assertThat(rows(LanceScan.all())).hasSize(20);
	}

	private void refused(String column, Schema schema) throws Exception {
		assertThatExceptionOfType(SchemaMismatchException.class).isThrownBy(() -> AppendSchema.check(TABLE, schema))
			.withMessageContaining(column);
		write(source(TABLE, 1, (i) -> random(TABLE)), LanceWriteMode.OVERWRITE);
		long version = await(this.template.describe(this.uri)).version();
		assertThat(
				failure(this.template.write(this.uri, source(schema, 1, (i) -> random(schema)), LanceWriteMode.APPEND)))
			.isInstanceOf(SchemaMismatchException.class);
		assertThat(await(this.template.describe(this.uri)).version()).isEqualTo(version);
	}

	private RecordBatch random(Schema schema) {
		try (var root = org.apache.arrow.vector.VectorSchemaRoot.create(schema, this.engine.allocator())) {
			root.getFieldVectors().forEach((vector) -> new Filler(1, 0).fill(vector, 10));
			root.setRowCount(10);
			return RecordBatch.copyOf(root, null, this.engine.allocator());
		}
	}

}
