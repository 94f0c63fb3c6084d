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

import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.SchemaMismatchException;

/**
 * Compares the schema of a source with the table that it is to be appended to, before
 * anything is read. Tolerates what Lance does: another order, nullable columns left out,
 * and a nullable column for one that is not, as long as no null comes.
 */
final class AppendSchema {

	private AppendSchema() {
	}

	/**
	 * Checks a source.
	 * @param table the schema of the table
	 * @param source the schema of the source
	 * @return the schema of the source, in which a field is nullable only if it is so in
	 * both
	 * @throws SchemaMismatchException if it can't be appended
	 */
	static Schema check(Schema table, Schema source) {
		return new Schema(check("", table.getFields(), source.getFields()), source.getCustomMetadata());
	}

	/**
	 * Checks the values of dictionary columns.
	 * @param table the schema of the table
	 * @param tableValues the value fields of its dictionaries by id
	 * @param source the schema of the source
	 * @param sourceValues the value fields of its dictionaries by id, maybe not all
	 * @throws SchemaMismatchException if they have other types
	 */
	static void checkDictionaries(Schema table, Map<Long, Field> tableValues, Schema source,
			Map<Long, Field> sourceValues) {
		checkDictionaries("", table.getFields(), tableValues, source.getFields(), sourceValues);
	}

	private static void checkDictionaries(String parent, List<Field> table, Map<Long, Field> tableValues,
			List<Field> source, Map<Long, Field> sourceValues) {
		for (Field field : source) {
			Field target = find(table, field.getName());
			if (target == null) {
				continue;
			}
			String path = path(parent, field);
			Field expected = values(target, tableValues);
			Field actual = values(field, sourceValues);
			if (expected != null && actual != null && !expected.getType().equals(actual.getType())) {
				throw new SchemaMismatchException("Column '%s' has a dictionary of %s in the table, but of %s here"
					.formatted(path, expected.getType(), actual.getType()));
			}
			List<Field> targets = isFixedSizeList(field) ? field.getChildren() : target.getChildren();
			checkDictionaries(path, targets, tableValues, field.getChildren(), sourceValues);
		}
	}

	private static @Nullable Field values(Field field, Map<Long, Field> values) {
		DictionaryEncoding encoding = field.getDictionary();
		return (encoding != null) ? values.get(encoding.getId()) : null;
	}

	private static List<Field> check(String parent, List<Field> table, List<Field> source) {
		Map<String, Field> missing = new LinkedHashMap<>();
		table.forEach((field) -> missing.put(field.getName(), field));
		List<Field> checked = new ArrayList<>(source.size());
		for (Field field : source) {
			Field target = missing.remove(field.getName());
			if (target == null) {
				throw new SchemaMismatchException("Column '%s' is not in the table, which has %s"
					.formatted(path(parent, field), table.stream().map(Field::getName).toList()));
			}
			checked.add(check(path(parent, field), target, field));
		}
		for (Field field : missing.values()) {
			if (!field.isNullable()) {
				throw new SchemaMismatchException(
						"Column '%s' is missing, and the table allows no nulls in it".formatted(path(parent, field)));
			}
		}
		return checked;
	}

	private static Field check(String path, Field table, Field source) {
		if (!table.getType().equals(source.getType())
				|| (table.getDictionary() == null) != (source.getDictionary() == null)) {
			throw new SchemaMismatchException(
					"Column '%s' is %s in the table, but %s here".formatted(path, describe(table), describe(source)));
		}
		List<Field> children;
		if (isFixedSizeList(source)) {
			// Lance does not keep the name of the elements.
			children = List.of(check(path(path, source.getChildren().get(0)), table.getChildren().get(0),
					source.getChildren().get(0)));
		}
		else {
			children = check(path, table.getChildren(), source.getChildren());
		}
		return new Field(source.getName(), new FieldType(table.isNullable() && source.isNullable(), source.getType(),
				source.getDictionary(), source.getMetadata()), children);
	}

	private static boolean isFixedSizeList(Field field) {
		return field.getType() instanceof ArrowType.FixedSizeList && field.getChildren().size() == 1;
	}

	private static String describe(Field field) {
		return field.getType() + ((field.getDictionary() != null) ? " (index of a dictionary)" : "");
	}

	private static @Nullable Field find(List<Field> fields, String name) {
		return fields.stream().filter((field) -> name.equals(field.getName())).findFirst().orElse(null);
	}

	private static String path(String parent, Field field) {
		return parent.isEmpty() ? field.getName() : parent + "." + field.getName();
	}

}
