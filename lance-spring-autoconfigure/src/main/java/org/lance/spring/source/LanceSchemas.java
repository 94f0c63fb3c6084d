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

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.source.LanceSchema.LanceField;

/**
 * Finds out how Lance stores a schema, and refuses what it could not store. Counterpart
 * of the conversion and the validation of Lance's own schema.
 */
final class LanceSchemas {

	private final Map<Long, Field> dictionaries;

	private final Set<String> paths = new HashSet<>();

	private int nextId;

	private LanceSchemas(Map<Long, Field> dictionaries) {
		this.dictionaries = dictionaries;
	}

	/**
	 * Converts a schema.
	 * @param schema the schema in memory format
	 * @param dictionaries the value fields of its dictionaries by id
	 * @throws LanceSchemaException if Lance could not store it
	 */
	static LanceSchema of(Schema schema, Map<Long, Field> dictionaries) {
		LanceSchemas conversion = new LanceSchemas(dictionaries);
		for (Field field : schema.getFields()) {
			String name = name(field);
			if (name.indexOf('.') >= 0) {
				throw new LanceSchemaException(name,
						"has a '.' in its name, which Lance keeps for nested fields. Rename it, or make it a struct");
			}
		}
		return new LanceSchema(conversion.fields(schema.getFields(), "", -1));
	}

	private List<LanceField> fields(List<Field> fields, String parentPath, int parentId) {
		List<LanceField> converted = new ArrayList<>(fields.size());
		for (Field field : fields) {
			converted.add(field(field, parentPath.isEmpty() ? name(field) : parentPath + "." + name(field), parentId));
		}
		return List.copyOf(converted);
	}

	private LanceField field(Field field, String path, int parentId) {
		if (!this.paths.add(path)) {
			throw new LanceSchemaException(path, "is there twice. Rename one of them");
		}
		int id = this.nextId++;
		String type = logicalType(field, path);
		DictionaryEncoding dictionary = field.getDictionary();
		List<Field> children = (dictionary != null) ? List.of() : stored(field);
		return new LanceField(id, parentId, name(field), type, field.isNullable(),
				(dictionary != null) ? dictionary.getId() : null, fields(children, path, id));
	}

	/**
	 * The children that are fields of their own: those of a fixed-size list are only if
	 * they are structs.
	 */
	private static List<Field> stored(Field field) {
		if (LanceTypes.storage(field) instanceof ArrowType.FixedSizeList) {
			return field.getChildren()
				.stream()
				.filter((child) -> LanceTypes.storage(child) instanceof ArrowType.Struct)
				.toList();
		}
		return field.getChildren();
	}

	private String logicalType(Field field, String path) {
		if (field.getDictionary() == null) {
			return LanceTypes.logicalType(field, path);
		}
		ArrowType index = field.getType();
		if (!(index instanceof ArrowType.Int integer) || !isIndexWidth(integer.getBitWidth())
				|| !index.equals(field.getDictionary().getIndexType())) {
			throw new LanceSchemaException(path,
					"has dictionary indexes of type %s. Use integers of 8, 16, 32 or 64 bits".formatted(index));
		}
		Field values = this.dictionaries.get(field.getDictionary().getId());
		if (values == null) {
			throw new LanceSchemaException(path,
					("has values of an unknown type: no batch and nothing else tells what "
							+ "dictionary %d has. Give the source its dictionaries")
						.formatted(field.getDictionary().getId()));
		}
		String value = (values.getDictionary() != null) ? "dict" : LanceTypes.logicalType(values, path);
		if (!values.getChildren().isEmpty() || values.getDictionary() != null || value.indexOf(':') >= 0) {
			// Lance takes the parts of "dict:value:index:ordered" apart at the colons.
			throw new LanceSchemaException(path,
					"has a dictionary of %s, which Lance can't store. Decode it first".formatted(values.getType()));
		}
		return "dict:%s:%s:false".formatted(value, LanceTypes.integer(integer));
	}

	private static boolean isIndexWidth(int bits) {
		return bits == 8 || bits == 16 || bits == 32 || bits == 64;
	}

	private static String name(Field field) {
		return (field.getName() != null) ? field.getName() : "";
	}

}
