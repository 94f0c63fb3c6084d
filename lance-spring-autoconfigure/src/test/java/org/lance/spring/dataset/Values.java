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

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;

/**
 * Reads values in a form that can be compared, dictionaries decoded.
 */
final class Values {

	private Values() {
	}

	static Object of(FieldVector vector, int index, DictionaryProvider dictionaries) {
		if (vector.isNull(index)) {
			return null;
		}
		DictionaryEncoding encoding = vector.getField().getDictionary();
		if (encoding != null) {
			int position = (int) ((BaseIntVector) vector).getValueAsLong(index);
			return of(dictionaries.lookup(encoding.getId()).getVector(), position, dictionaries);
		}
		if (vector instanceof StructVector struct) {
			Map<String, Object> value = new LinkedHashMap<>();
			struct.getChildrenFromFields()
				.forEach((child) -> value.put(child.getName(), of(child, index, dictionaries)));
			return value;
		}
		if (vector instanceof ListVector list) {
			return elements(list.getDataVector(), list.getElementStartIndex(index), list.getElementEndIndex(index),
					dictionaries);
		}
		if (vector instanceof LargeListVector list) {
			return elements(list.getDataVector(), list.getElementStartIndex(index), list.getElementEndIndex(index),
					dictionaries);
		}
		if (vector instanceof FixedSizeListVector list) {
			return elements(list.getDataVector(), list.getElementStartIndex(index), list.getElementEndIndex(index),
					dictionaries);
		}
		Object value = vector.getObject(index);
		if (value instanceof byte[] bytes) {
			return ByteBuffer.wrap(bytes);
		}
		return (value instanceof Number || value instanceof Comparable<?>) ? value : value.toString();
	}

	private static List<Object> elements(FieldVector data, long start, long end, DictionaryProvider dictionaries) {
		List<Object> elements = new ArrayList<>();
		for (long i = start; i < end; i++) {
			elements.add(of(data, Math.toIntExact(i), dictionaries));
		}
		return elements;
	}

}
