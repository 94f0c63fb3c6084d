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

package org.lance.spring.spill;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.DictionaryVersion;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.SchemaMismatchException;
import org.lance.spring.stream.Schemas;

/**
 * The value fields of the dictionaries of one spill. The schema does not tell them, so
 * they come from the source or from the first batch, and later batches have to agree.
 */
final class DictionaryFields {

	private volatile Map<Long, Field> fields;

	DictionaryFields(Map<Long, Field> fields) {
		this.fields = Map.copyOf(fields);
	}

	Map<Long, Field> get() {
		return this.fields;
	}

	/**
	 * Checks the dictionaries of a batch.
	 * @throws SchemaMismatchException if one has another type than before
	 */
	void check(RecordBatch batch) {
		for (DictionaryVersion version : batch.dictionaries()) {
			Field known = this.fields.get(version.id());
			if (known != null && known != version.field()) {
				check(version.id(), known, version.field());
			}
		}
	}

	private static void check(long id, Field known, Field actual) {
		if (!known.getType().equals(actual.getType())
				|| !Objects.equals(known.getDictionary(), actual.getDictionary())) {
			throw new SchemaMismatchException(
					"Dictionary %d differs: expected values of %s, but got %s".formatted(id, known, actual));
		}
		try {
			Schemas.checkCompatible(new Schema(known.getChildren()), new Schema(actual.getChildren()));
		}
		catch (SchemaMismatchException ex) {
			throw new SchemaMismatchException("Dictionary %d differs: %s".formatted(id, ex.getMessage()));
		}
	}

	/**
	 * Remembers the dictionaries of a batch that was taken.
	 */
	void learn(List<DictionaryVersion> versions) {
		Map<Long, Field> known = this.fields;
		if (versions.stream().allMatch((version) -> known.containsKey(version.id()))) {
			return;
		}
		Map<Long, Field> all = new HashMap<>(known);
		versions.forEach((version) -> all.putIfAbsent(version.id(), version.field()));
		this.fields = Map.copyOf(all);
	}

}
