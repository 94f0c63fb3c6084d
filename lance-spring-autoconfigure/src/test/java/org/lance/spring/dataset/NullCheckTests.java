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

import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.lance.spring.stream.InvalidRecordBatchException;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of {@link NullCheck}: a null counts where its parent is there.
 */
class NullCheckTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private static final Field REQUIRED = Field.notNullable("x", new ArrowType.Int(32, true));

	@Test
	void whenRequiredColumnHasNullThenItIsNamed() {
		refused("'x'", REQUIRED, (vector) -> ints(vector, 1, null, 3));
		accepted(REQUIRED, (vector) -> ints(vector, 1, 2, 3));
		accepted(Field.nullable("x", REQUIRED.getType()), (vector) -> ints(vector, 1, null, 3));
	}

	@Test
	void whenRequiredFieldOfStructHasNullThenItCountsWhereStructIsThere() {
		Field field = new Field("s", FieldType.nullable(new ArrowType.Struct()), List.of(REQUIRED));
		refused("'s.x'", field, (vector) -> struct(vector, true));
		accepted(field, (vector) -> struct(vector, false));
	}

	private static void struct(FieldVector vector, boolean there) {
		StructVector struct = (StructVector) vector;
		ints((FieldVector) struct.getChild("x"), 1, null, 3);
		for (int i = 0; i < 3; i++) {
			if (i != 1 || there) {
				struct.setIndexDefined(i);
			}
			else {
				struct.setNull(i);
			}
		}
	}

	@Test
	void whenRequiredElementOfListHasNullThenItCountsWhereListIsThere() {
		Field field = new Field("l", FieldType.nullable(new ArrowType.List()), List.of(REQUIRED));
		refused("'l.x'", field, (vector) -> list((ListVector) vector, true));
		accepted(field, (vector) -> list((ListVector) vector, false));
		Field large = new Field("l", FieldType.nullable(new ArrowType.LargeList()), List.of(REQUIRED));
		refused("'l.x'", large, (vector) -> list((LargeListVector) vector, true));
		accepted(large, (vector) -> list((LargeListVector) vector, false));
	}

	private static void list(ListVector list, boolean there) {
		for (int i = 0; i < 3; i++) {
			list.startNewValue(i);
			list.endValue(i, 1);
		}
		ints(list.getDataVector(), 1, null, 3);
		if (!there) {
			org.apache.arrow.vector.BitVectorHelper.unsetBit(list.getValidityBuffer(), 1);
		}
	}

	private static void list(LargeListVector list, boolean there) {
		for (int i = 0; i < 3; i++) {
			list.startNewValue(i);
			list.endValue(i, 1);
		}
		ints(list.getDataVector(), 1, null, 3);
		if (!there) {
			org.apache.arrow.vector.BitVectorHelper.unsetBit(list.getValidityBuffer(), 1);
		}
	}

	@Test
	void whenRequiredElementOfVectorHasNullThenItCountsWhereVectorIsThere() {
		Field field = new Field("v", FieldType.nullable(new ArrowType.FixedSizeList(1)), List.of(REQUIRED));
		refused("'v.x'", field, (vector) -> vector((FixedSizeListVector) vector, true));
		accepted(field, (vector) -> vector((FixedSizeListVector) vector, false));
	}

	private static void vector(FixedSizeListVector list, boolean there) {
		ints(list.getDataVector(), 1, null, 3);
		for (int i = 0; i < 3; i++) {
			if (i != 1 || there) {
				list.setNotNull(i);
			}
			else {
				list.setNull(i);
			}
		}
	}

	private static void ints(FieldVector vector, Integer... values) {
		for (int i = 0; i < values.length; i++) {
			if (values[i] != null) {
				((IntVector) vector).setSafe(i, values[i]);
			}
			else {
				vector.setNull(i);
			}
		}
		vector.setValueCount(values.length);
	}

	private void refused(String column, Field field, Consumer<FieldVector> fill) {
		assertThatExceptionOfType(InvalidRecordBatchException.class).isThrownBy(() -> check(field, fill))
			.withMessageContaining(column)
			.withMessageContaining("position 1");
	}

	private void accepted(Field field, Consumer<FieldVector> fill) {
		check(field, fill);
	}

	private void check(Field field, Consumer<FieldVector> fill) {
		Schema schema = new Schema(List.of(field));
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			root.allocateNew();
			fill.accept(root.getVector(0));
			root.setRowCount(3);
			try (RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator())) {
				new NullCheck(schema, this.engine.allocator()).check(batch);
			}
		}
	}

}
