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

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Finds the value fields of all dictionaries of a schema, nested ones too, as far as
 * their provider knows them.
 */
final class DictionaryFields {

	private DictionaryFields() {
	}

	static Map<Long, Field> of(Schema schema, DictionaryProvider provider) {
		Map<Long, Field> found = new HashMap<>();
		collect(schema.getFields(), provider, found);
		return found;
	}

	private static void collect(Collection<Field> fields, DictionaryProvider provider, Map<Long, Field> found) {
		for (Field field : fields) {
			collect(field.getChildren(), provider, found);
			if (field.getDictionary() == null || found.containsKey(field.getDictionary().getId())) {
				continue;
			}
			Dictionary dictionary = provider.lookup(field.getDictionary().getId());
			if (dictionary != null) {
				Field values = dictionary.getVector().getField();
				found.put(field.getDictionary().getId(), values);
				collect(List.of(values), provider, found);
			}
		}
	}

}
