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

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Finds the dictionaries that the columns of a schema refer to, also nested ones.
 */
final class DictionaryIds {

	private DictionaryIds() {
	}

	static Set<Long> of(Schema schema) {
		return columns("", schema.getFields(), new LinkedHashMap<>()).keySet();
	}

	/**
	 * Checks that the value types are known: without any batch they may not be.
	 */
	static void checkAllKnown(Schema schema, Set<Long> known) {
		columns("", schema.getFields(), new LinkedHashMap<>()).forEach((id, path) -> {
			if (!known.contains(id)) {
				throw new UnsupportedColumnException(path,
						("The type of the values of dictionary column '%s' is not known, because the source has no batch. "
								+ "Name it in the source's dictionaryFields()")
							.formatted(path));
			}
		});
	}

	private static Map<Long, String> columns(String parent, List<Field> fields, Map<Long, String> found) {
		for (Field field : fields) {
			String path = parent.isEmpty() ? field.getName() : parent + "." + field.getName();
			if (field.getDictionary() != null) {
				found.putIfAbsent(field.getDictionary().getId(), path);
			}
			columns(path, field.getChildren(), found);
		}
		return found;
	}

}
