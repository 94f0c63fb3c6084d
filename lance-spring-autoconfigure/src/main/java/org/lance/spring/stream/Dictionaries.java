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

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;

import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Finds the dictionary encodings of a schema, also nested ones and those inside the
 * values of other dictionaries.
 */
final class Dictionaries {

	private Dictionaries() {
	}

	/**
	 * The encodings that the columns themselves refer to, by id, in field order.
	 */
	static Map<Long, DictionaryEncoding> encodings(Collection<Field> fields) {
		Map<Long, DictionaryEncoding> encodings = new LinkedHashMap<>();
		Deque<Field> open = new ArrayDeque<>(fields);
		while (!open.isEmpty()) {
			Field field = open.poll();
			if (field.getDictionary() != null) {
				encodings.putIfAbsent(field.getDictionary().getId(), field.getDictionary());
			}
			open.addAll(field.getChildren());
		}
		return encodings;
	}

	static DictionaryEncoding encoding(Schema schema, Collection<DictionaryVersion> versions, long id) {
		DictionaryEncoding encoding = encodings(schema.getFields()).get(id);
		if (encoding == null) {
			encoding = encodings(versions.stream().map(DictionaryVersion::field).toList()).get(id);
		}
		if (encoding == null) {
			throw new IllegalArgumentException("No column refers to dictionary %d".formatted(id));
		}
		return encoding;
	}

}
