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

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Knows which columns lance-core 7.0.0 stores in its default file format. What is not
 * known to be stored is refused here, because native code answers some of it by ending
 * the JVM: a fixed-size list of text or of dictionary indexes, a list size of 0, a
 * dictionary of timestamps, decimals, lists or structs, and two fields of one name in a
 * struct all do; so do, if the lists are sparse, lists of dictionary indexes, of
 * fixed-size lists of booleans and of fixed-size lists of fixed-size lists.
 */
final class StorableSchema {

	/**
	 * Arrow Java imports 64 levels; a dictionary takes one more.
	 */
	private static final int MAX_DEPTH = 60;

	private static final Set<String> RESERVED = Set.of("_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version",
			"_row_last_updated_at_version");

	private StorableSchema() {
	}

	/**
	 * Checks all but the values of dictionaries.
	 * @param schema the schema in memory format
	 * @throws UnsupportedColumnException if Lance can't store it
	 */
	static void check(Schema schema) {
		if (schema.getFields().isEmpty()) {
			throw new UnsupportedColumnException("",
					"The schema has no columns, and Lance stores no rows without any. Add a column");
		}
		for (Field field : schema.getFields()) {
			checkName(field);
		}
		checkUnique("", schema.getFields());
		for (Field field : schema.getFields()) {
			check(field.getName(), field, 1, false);
		}
	}

	/**
	 * Checks the values of dictionaries.
	 * @param schema the schema in memory format
	 * @param dictionaryFields the value fields by dictionary id, maybe not all
	 * @throws UnsupportedColumnException if Lance can't store the values of one
	 */
	static void checkDictionaries(Schema schema, Map<Long, Field> dictionaryFields) {
		checkDictionaries("", schema.getFields(), dictionaryFields);
	}

	private static void checkDictionaries(String parent, List<Field> fields, Map<Long, Field> dictionaryFields) {
		for (Field field : fields) {
			String path = path(parent, field);
			if (field.getDictionary() != null) {
				Field values = dictionaryFields.get(field.getDictionary().getId());
				if (values != null && (values.getDictionary() != null || !isDictionaryValue(values.getType()))) {
					throw unsupported(path, "a dictionary of " + values.getType(),
							"decode the column, or use a dictionary of text, binary, integers, floats or booleans");
				}
			}
			checkDictionaries(path, field.getChildren(), dictionaryFields);
		}
	}

	private static void checkName(Field field) {
		String name = field.getName();
		if (name == null || name.isEmpty()) {
			throw new UnsupportedColumnException("", "A column has no name. Give every column one");
		}
		if (RESERVED.contains(name)) {
			throw new UnsupportedColumnException(name,
					"Column '%s' has a name that Lance keeps for itself. Rename it".formatted(name));
		}
		for (char bad : new char[] { '.', '`', '"' }) {
			if (name.indexOf(bad) >= 0) {
				throw new UnsupportedColumnException(name,
						"Column '%s' has a %s in its name, and Lance could not find it again. Rename it".formatted(name,
								bad));
			}
		}
	}

	/**
	 * A second field of one name would be lost, or end the JVM. A NUL would cut the name.
	 */
	private static void checkUnique(String parent, List<Field> fields) {
		Set<String> names = new HashSet<>();
		for (Field field : fields) {
			String name = (field.getName() != null) ? field.getName() : "";
			if (name.indexOf('\0') >= 0) {
				throw new UnsupportedColumnException(path(parent, field),
						"Column '%s' has a NUL character in its name. Rename it"
							.formatted(path(parent, field).replace('\0', '?')));
			}
			if (!names.add(name)) {
				throw new UnsupportedColumnException(path(parent, field),
						"Column '%s' is there twice. Rename one of them".formatted(path(parent, field)));
			}
		}
	}

	private static void check(String path, Field field, int depth, boolean inList) {
		if (depth > MAX_DEPTH) {
			throw unsupported(path, "a nesting of more than " + MAX_DEPTH + " levels", "flatten it");
		}
		ArrowType type = storage(field.getType());
		List<Field> children = field.getChildren();
		if (field.getDictionary() != null && inList) {
			throw unsupported(path, "a dictionary inside a list", "decode it");
		}
		if (field.getDictionary() != null || isScalar(type) || type instanceof ArrowType.Null) {
			return;
		}
		if (type instanceof ArrowType.FixedSizeList) {
			checkVector(path, field, depth, inList);
			return;
		}
		boolean list = type instanceof ArrowType.List || type instanceof ArrowType.LargeList;
		if (!list && !(type instanceof ArrowType.Struct)) {
			throw unsupported(path, "type " + type, advice(type));
		}
		if (children.isEmpty()) {
			throw unsupported(path, "type " + type + " without children", "leave it out");
		}
		checkUnique(path, children);
		for (Field child : children) {
			if (type instanceof ArrowType.Struct && storage(child.getType()) instanceof ArrowType.Null) {
				throw unsupported(path(path, child), "type Null in a struct", "leave it out");
			}
			check(path(path, child), child, depth + 1, inList || list);
		}
	}

	private static void checkVector(String path, Field field, int depth, boolean inList) {
		ArrowType.FixedSizeList type = (ArrowType.FixedSizeList) storage(field.getType());
		if (type.getListSize() < 1 || field.getChildren().size() != 1) {
			throw unsupported(path, "a fixed-size list of size " + type.getListSize(), "leave it out");
		}
		if (depth > MAX_DEPTH) {
			throw unsupported(path, "a nesting of more than " + MAX_DEPTH + " levels", "flatten it");
		}
		Field element = field.getChildren().get(0);
		ArrowType elementType = storage(element.getType());
		boolean vector = elementType instanceof ArrowType.FixedSizeList;
		if (inList && (vector || elementType instanceof ArrowType.Bool)) {
			throw unsupported(path, "a fixed-size list of " + elementType + " inside a list", "use lists only");
		}
		if (element.getDictionary() == null && vector) {
			checkVector(path(path, element), element, depth + 1, false);
			return;
		}
		boolean fixedWidth = isScalar(elementType) && !isVariableWidth(elementType);
		if (element.getDictionary() != null || !fixedWidth) {
			throw unsupported(path,
					"a fixed-size list of "
							+ ((element.getDictionary() != null) ? "dictionary indexes" : elementType.toString()),
					"use a list instead");
		}
	}

	private static boolean isScalar(ArrowType type) {
		if (type instanceof ArrowType.FixedSizeBinary binary) {
			return binary.getByteWidth() > 0;
		}
		if (type instanceof ArrowType.Decimal decimal) {
			return decimal.getBitWidth() == 128 || decimal.getBitWidth() == 256;
		}
		if (type instanceof ArrowType.Timestamp timestamp) {
			// Lance writes the zone between colons, and its reader ends the JVM at more.
			return timestamp.getTimezone() == null || timestamp.getTimezone().indexOf(':') < 0;
		}
		return type instanceof ArrowType.Int || type instanceof ArrowType.FloatingPoint
				|| type instanceof ArrowType.Bool || isVariableWidth(type) || type instanceof ArrowType.Date
				|| type instanceof ArrowType.Time || type instanceof ArrowType.Duration;
	}

	private static boolean isVariableWidth(ArrowType type) {
		return type instanceof ArrowType.Utf8 || type instanceof ArrowType.LargeUtf8 || type instanceof ArrowType.Binary
				|| type instanceof ArrowType.LargeBinary;
	}

	private static boolean isDictionaryValue(ArrowType type) {
		return type instanceof ArrowType.Int || type instanceof ArrowType.FloatingPoint
				|| type instanceof ArrowType.Bool || isVariableWidth(type);
	}

	private static ArrowType storage(ArrowType type) {
		return (type instanceof ArrowType.ExtensionType extension) ? extension.storageType() : type;
	}

	private static String advice(ArrowType type) {
		if (type instanceof ArrowType.Utf8View || type instanceof ArrowType.BinaryView) {
			return "use Utf8 or Binary instead";
		}
		if (type instanceof ArrowType.ListView || type instanceof ArrowType.LargeListView) {
			return "use List instead";
		}
		if (type instanceof ArrowType.Map) {
			return "use a list of structs instead; maps need file format 2.2, and this version of Lance writes 2.1";
		}
		if (type instanceof ArrowType.RunEndEncoded) {
			return "decode the column";
		}
		if (type instanceof ArrowType.Timestamp) {
			return "use a named time zone instead, such as 'UTC' or 'Asia/Shanghai'";
		}
		return "convert it or leave it out";
	}

	private static UnsupportedColumnException unsupported(String path, String what, String advice) {
		return new UnsupportedColumnException(path,
				"Column '%s' has %s, which Lance can't store; %s".formatted(path, what, advice));
	}

	private static String path(String parent, Field field) {
		return parent.isEmpty() ? field.getName() : parent + "." + field.getName();
	}

}
