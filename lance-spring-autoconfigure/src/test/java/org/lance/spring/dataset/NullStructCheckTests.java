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
import java.util.function.Consumer;

import org.apache.arrow.vector.BitVectorHelper;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.stream.RecordBatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of {@link NullStructCheck}. Whatever it accepts is also read back, with texts so
 * long, or so few, that Lance takes the layout in which null structs go wrong.
 */
class NullStructCheckTests extends AbstractLanceTests {

	private static final Field LIST = new Field("l", FieldType.nullable(new ArrowType.List()),
			List.of(Field.nullable("item", new ArrowType.Utf8())));

	private static final Schema SCHEMA = new Schema(List.of(struct("s", true, LIST)));

	@ParameterizedTest
	@ValueSource(strings = { "lLlL", "LLLL", "llll", "eLle" })
	void whenNoStructIsNullThenValuesComeBack(String rows) throws Exception {
		TestSource source = source(SCHEMA, 3, (i) -> batch((i == 1) ? "l".repeat(500) : rows));
		write(source, LanceWriteMode.CREATE);
		List<List<Object>> read = rows(LanceScan.all());
		assertThat(read).hasSize(2 * rows.length() + 500);
		for (int i = 0; i < rows.length(); i++) {
			assertThat(read.get(i).toString()).isEqualTo(text(rows.charAt(i)));
			assertThat(read.get(rows.length() + 500 + i).toString()).isEqualTo(text(rows.charAt(i)));
		}
	}

	private static String text(char row) {
		return switch (row) {
			case 'l' -> "[{l=null}]";
			case 'e' -> "[{l=[]}]";
			default -> "[{l=[" + "x".repeat(300) + "]}]";
		};
	}

	@ParameterizedTest
	@ValueSource(strings = { "sLl", "Ls", "s" })
	void whenStructWithListIsNullThenColumnIsNamed(String rows) throws Exception {
		TestSource source = source(SCHEMA, 2, (i) -> batch((i == 1) ? rows : "L"));
		assertThat(failure(this.template.write(this.uri, source, LanceWriteMode.CREATE)))
			.isInstanceOfSatisfying(UnsupportedColumnException.class, (ex) -> assertThat(ex.getColumn()).isEqualTo("s"))
			.hasMessageContaining("'s'");
		assertThat(await(this.template.exists(this.uri))).isFalse();
	}

	@Test
	void whenStructWithListSomewhereBelowIsNullThenItIsNamed() {
		Field large = new Field("l", FieldType.nullable(new ArrowType.LargeList()),
				List.of(Field.nullable("item", new ArrowType.Utf8())));
		refused("'s'", struct("s", true, large));
		refused("'s'", struct("s", true, struct("t", true, LIST)));
		refused("'p.s'", struct("p", false, struct("s", true, LIST)));
		Field struct = struct("s", true, LIST);
		refused("'p.s'", new Field("p", FieldType.nullable(new ArrowType.List()), List.of(struct)));
	}

	@Test
	void whenStructWithListIsNullInAListThatIsNullThenItDoesNotCount() {
		Field field = new Field("p", FieldType.nullable(new ArrowType.List()), List.of(struct("s", true, LIST)));
		check(field, (vector) -> {
			fill(vector);
			BitVectorHelper.unsetBit(vector.getValidityBuffer(), 0);
		});
	}

	private static Field struct(String name, boolean nullable, Field child) {
		return new Field(name, new FieldType(nullable, new ArrowType.Struct(), null), List.of(child));
	}

	private void refused(String column, Field field) {
		assertThatExceptionOfType(UnsupportedColumnException.class)
			.isThrownBy(() -> check(field, NullStructCheckTests::fill))
			.withMessageContaining(column);
	}

	/**
	 * One row: everything is there down to the first nullable struct, which is null.
	 */
	private static void fill(FieldVector vector) {
		if (vector instanceof ListVector list) {
			list.startNewValue(0);
			list.endValue(0, 1);
			fill(list.getDataVector());
		}
		else if (vector.getField().isNullable()) {
			vector.setNull(0);
		}
		else {
			((StructVector) vector).setIndexDefined(0);
			fill(vector.getChildrenFromFields().get(0));
		}
		vector.setValueCount(1);
	}

	private void check(Field field, Consumer<FieldVector> fill) {
		Schema schema = new Schema(List.of(field));
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			root.allocateNew();
			fill.accept(root.getVector(0));
			root.setRowCount(1);
			try (RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator())) {
				new NullStructCheck(schema, this.engine.allocator()).check(batch);
			}
		}
	}

	/**
	 * One row for each letter: a null struct (s), a null list (l), an empty list (e) or a
	 * list of one long text (L).
	 */
	private RecordBatch batch(String rows) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(SCHEMA, this.engine.allocator())) {
			StructVector struct = (StructVector) root.getVector(0);
			ListVector list = (ListVector) struct.getChild("l");
			VarCharVector texts = (VarCharVector) list.getDataVector();
			root.allocateNew();
			for (int i = 0; i < rows.length(); i++) {
				char row = rows.charAt(i);
				if (row == 's') {
					struct.setNull(i);
					list.setNull(i);
					continue;
				}
				struct.setIndexDefined(i);
				if (row == 'l') {
					list.setNull(i);
					continue;
				}
				int start = list.startNewValue(i);
				if (row == 'L') {
					texts.setSafe(start, "x".repeat(300).getBytes());
				}
				list.endValue(i, (row == 'L') ? 1 : 0);
			}
			root.setRowCount(rows.length());
			return RecordBatch.copyOf(root, null, this.engine.allocator());
		}
	}

}
