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

package org.lance.spring.testing;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.ValueVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.DenseUnionVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.LargeListViewVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.ListViewVector;
import org.apache.arrow.vector.complex.RunEndEncodedVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.complex.UnionVector;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.util.Text;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares columns of any type cell by cell, dictionary columns by their values.
 */
public final class CellComparison {

	private CellComparison() {
	}

	/**
	 * Asserts that fields are the same but for dictionary ids and the child names of
	 * maps.
	 */
	public static void assertSameFields(List<Field> expected, List<Field> actual) {
		assertThat(describe(actual)).isEqualTo(describe(expected));
	}

	private static String describe(List<Field> fields) {
		StringBuilder text = new StringBuilder();
		fields.forEach((field) -> describe(field, field.getName(), text));
		return text.toString();
	}

	private static void describe(Field field, @Nullable String name, StringBuilder text) {
		text.append('\n')
			.append(name)
			.append(' ')
			.append(field.getType())
			.append(field.isNullable() ? "" : " not null");
		if (field.getDictionary() != null) {
			text.append(" dictionary").append(field.getDictionary().isOrdered() ? " ordered" : "");
		}
		text.append(new java.util.TreeMap<>(field.getMetadata()));
		text.append('<');
		for (Field child : field.getChildren()) {
			boolean inMap = field.getType() instanceof ArrowType.Map;
			describe(child, inMap ? "entries" : child.getName(), inMap ? mapEntries(child, text) : text);
		}
		text.append('>');
	}

	/**
	 * The names of key and value are left out with the entries, which are described
	 * alone.
	 */
	private static StringBuilder mapEntries(Field entries, StringBuilder text) {
		for (Field child : entries.getChildren()) {
			describe(child, "", text);
		}
		return new StringBuilder();
	}

	/**
	 * The cells of all columns, as plain objects.
	 */
	public static List<List<@Nullable Object>> cells(VectorSchemaRoot root, DictionaryProvider dictionaries) {
		List<List<@Nullable Object>> columns = new ArrayList<>();
		for (FieldVector vector : root.getFieldVectors()) {
			List<@Nullable Object> cells = new ArrayList<>();
			for (int row = 0; row < root.getRowCount(); row++) {
				cells.add(cell(vector, row, dictionaries));
			}
			columns.add(cells);
		}
		return columns;
	}

	/**
	 * Asserts that the cells of a root are as expected.
	 */
	public static void assertSameCells(String what, List<List<@Nullable Object>> expected, VectorSchemaRoot actual,
			DictionaryProvider dictionaries) {
		List<List<@Nullable Object>> read = cells(actual, dictionaries);
		assertThat(read).as("columns of %s", what).hasSameSizeAs(expected);
		for (int column = 0; column < expected.size(); column++) {
			// Not compared by AssertJ at once: describing a whole table takes long.
			if (!expected.get(column).equals(read.get(column))) {
				assertThat(read.get(column)).as("%s, column %d '%s'", what, column, actual.getVector(column).getName())
					.isEqualTo(expected.get(column));
			}
		}
	}

	/**
	 * The value of a cell as plain objects that can be compared.
	 */
	public static @Nullable Object cell(ValueVector vector, int row, DictionaryProvider dictionaries) {
		if (vector instanceof UnionVector union) {
			int type = union.getTypeValue(row);
			ValueVector child = union.getVectorByType(type);
			return List.of(type, String.valueOf((child != null) ? cell(child, row, dictionaries) : null));
		}
		if (vector instanceof DenseUnionVector union) {
			byte type = union.getTypeId(row);
			return List.of(type, String.valueOf(cell(union.getVectorByType(type), union.getOffset(row), dictionaries)));
		}
		if (vector instanceof RunEndEncodedVector runs) {
			return cell(runs.getValuesVector(), runs.getPhysicalIndex(row), dictionaries);
		}
		if (vector instanceof NullVector || vector.isNull(row)) {
			return null;
		}
		if (vector.getField().getDictionary() != null) {
			Dictionary dictionary = dictionaries.lookup(vector.getField().getDictionary().getId());
			int index = ((Number) number(vector.getObject(row))).intValue();
			return cell(dictionary.getVector(), index, dictionaries);
		}
		return nested(vector, row, dictionaries);
	}

	private static Object number(Object index) {
		return (index instanceof Character character) ? (int) character : index;
	}

	private static @Nullable Object nested(ValueVector vector, int row, DictionaryProvider dictionaries) {
		if (vector instanceof StructVector struct) {
			List<@Nullable Object> values = new ArrayList<>();
			struct.getChildrenFromFields().forEach((child) -> values.add(cell(child, row, dictionaries)));
			return values;
		}
		if (vector instanceof ListVector list) {
			return elements(list.getDataVector(), list.getElementStartIndex(row), list.getElementEndIndex(row),
					dictionaries);
		}
		if (vector instanceof LargeListVector list) {
			return elements(list.getDataVector(), list.getElementStartIndex(row), list.getElementEndIndex(row),
					dictionaries);
		}
		if (vector instanceof FixedSizeListVector list) {
			return elements(list.getDataVector(), (long) row * list.getListSize(), (row + 1L) * list.getListSize(),
					dictionaries);
		}
		if (vector instanceof ListViewVector list) {
			int start = list.getOffsetBuffer().getInt(row * 4L);
			return elements(list.getDataVector(), start, start + list.getSizeBuffer().getInt(row * 4L), dictionaries);
		}
		if (vector instanceof LargeListViewVector list) {
			long start = list.getOffsetBuffer().getLong(row * 8L);
			return elements(list.getDataVector(), start, start + list.getSizeBuffer().getLong(row * 8L), dictionaries);
		}
		return plain(vector.getObject(row));
	}

	private static List<@Nullable Object> elements(ValueVector data, long start, long end,
			DictionaryProvider dictionaries) {
		List<@Nullable Object> values = new ArrayList<>();
		for (long i = start; i < end; i++) {
			values.add(cell(data, (int) i, dictionaries));
		}
		return values;
	}

	private static Object plain(Object value) {
		if (value instanceof byte[] bytes) {
			return ByteBuffer.wrap(Arrays.copyOf(bytes, bytes.length));
		}
		return (value instanceof Text text) ? text.toString() : value;
	}

}
