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

package org.lance.spring.stream;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Converts a schema from memory format, where a dictionary column has its index type, to
 * the format of IPC messages, where it has the type of the values.
 */
final class MessageFormat {

	private final Map<Long, Field> dictionaryFields;

	private final Map<Long, Field> used = new LinkedHashMap<>();

	private final Set<Long> open = new HashSet<>();

	MessageFormat(Map<Long, Field> dictionaryFields) {
		this.dictionaryFields = dictionaryFields;
	}

	Schema convert(Schema schema) {
		return new Schema(convert(schema.getFields()), schema.getCustomMetadata());
	}

	/**
	 * The value fields, in memory format, of the dictionaries that were met, inner ones
	 * first.
	 */
	Map<Long, Field> valueFields() {
		return this.used;
	}

	private List<Field> convert(List<Field> fields) {
		List<Field> converted = new ArrayList<>(fields.size());
		for (Field field : fields) {
			converted.add(convert(field));
		}
		return converted;
	}

	private Field convert(Field field) {
		DictionaryEncoding encoding = field.getDictionary();
		if (encoding == null) {
			return new Field(field.getName(), field.getFieldType(), convert(field.getChildren()));
		}
		Field values = values(field, encoding.getId());
		if (!this.open.add(encoding.getId())) {
			throw new IllegalArgumentException("Field '%s': the values of dictionary %d refer to the same dictionary"
				.formatted(field.getName(), encoding.getId()));
		}
		ArrowType type = values.getType();
		List<Field> children = convert(values.getChildren());
		this.open.remove(encoding.getId());
		// After the children: a reader needs the inner dictionary first.
		this.used.putIfAbsent(encoding.getId(), values);
		return new Field(field.getName(), new FieldType(field.isNullable(), type, encoding, field.getMetadata()),
				children);
	}

	private Field values(Field field, long id) {
		Field values = this.dictionaryFields.get(id);
		if (values == null) {
			throw new IllegalArgumentException(
					"Field '%s': the values of its dictionary %d are unknown".formatted(field.getName(), id));
		}
		DictionaryEncoding nested = values.getDictionary();
		if (nested != null && nested.getId() != id) {
			throw new IllegalArgumentException(
					"Field '%s': the values of its dictionary %d are themselves encoded by dictionary %d, which Arrow IPC can't express. Decode one of them"
						.formatted(field.getName(), id, nested.getId()));
		}
		return values;
	}

}
