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

package org.lance.spring.sample.tables;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float2Vector;
import org.apache.arrow.vector.UInt1Vector;
import org.apache.arrow.vector.UInt2Vector;
import org.apache.arrow.vector.UInt4Vector;
import org.apache.arrow.vector.UInt8Vector;
import org.apache.arrow.vector.complex.BaseListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.OpenBatch;

/**
 * Rows of Arrow vectors as plain values for JSON: dictionary columns by their values,
 * numbers as what they are, bytes as such (base64 in JSON), dates and times as ISO 8601
 * text, and what else JSON has no type for as text.
 */
final class JsonValues {

	private JsonValues() {
	}

	/**
	 * Reads a row.
	 * @param batch the batch
	 * @param row the number of the row
	 * @return the values by column
	 */
	static Map<String, @Nullable Object> row(OpenBatch batch, int row) {
		return fields(batch.root().getFieldVectors(), row, batch.dictionaries());
	}

	private static Map<String, @Nullable Object> fields(List<FieldVector> vectors, int index,
			DictionaryProvider dictionaries) {
		Map<String, @Nullable Object> values = new LinkedHashMap<>();
		for (FieldVector vector : vectors) {
			values.put(vector.getName(), value(vector, index, dictionaries));
		}
		return values;
	}

	private static @Nullable Object value(FieldVector vector, int index, DictionaryProvider dictionaries) {
		if (vector.isNull(index)) {
			return null;
		}
		DictionaryEncoding encoding = vector.getField().getDictionary();
		if (encoding != null && scalar(vector, index) instanceof Number position) {
			FieldVector values = (FieldVector) dictionaries.lookup(encoding.getId()).getVector();
			return value(values, position.intValue(), dictionaries);
		}
		if (vector instanceof StructVector struct) {
			return fields(struct.getChildrenFromFields(), index, dictionaries);
		}
		if (vector instanceof BaseListVector list) {
			FieldVector items = vector.getChildrenFromFields().get(0);
			List<@Nullable Object> values = new ArrayList<>();
			for (int item = list.getElementStartIndex(index); item < list.getElementEndIndex(index); item++) {
				values.add(value(items, item, dictionaries));
			}
			return values;
		}
		Object value = scalar(vector, index);
		return (value instanceof Number || value instanceof Boolean || value instanceof byte[]) ? value
				: String.valueOf(value);
	}

	private static @Nullable Object scalar(FieldVector vector, int index) {
		if (vector instanceof Float2Vector half) {
			return half.getValueAsFloat(index);
		}
		if (vector instanceof UInt1Vector unsigned) {
			return unsigned.getObjectNoOverflow(index);
		}
		if (vector instanceof UInt2Vector unsigned) {
			return (int) unsigned.get(index);
		}
		if (vector instanceof UInt4Vector unsigned) {
			return unsigned.getObjectNoOverflow(index);
		}
		if (vector instanceof UInt8Vector unsigned) {
			return unsigned.getObjectNoOverflow(index);
		}
		Object time = JsonTimes.of(vector, index);
		return (time != null) ? time : vector.getObject(index);
	}

}
