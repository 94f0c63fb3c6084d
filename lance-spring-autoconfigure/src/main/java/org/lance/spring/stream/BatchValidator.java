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

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Checks that the parts of a batch fit together, on its nodes and buffers alone, so that
 * nothing has to be loaded first. What passes can be read by Arrow Java and by native
 * code without leaving its buffers.
 * <p>
 * Stricter than needed for memory safety in one point: a null count that differs from the
 * validity buffer is refused, not repaired, because it goes into files and to native
 * readers that trust it. More lenient than the format in one: slots of a union that were
 * never set have a type id of Arrow Java's own (-1 in a dense union, 0 in a sparse one).
 */
final class BatchValidator {

	private final BodyCursor cursor;

	private final ColumnValidator columns;

	/**
	 * The versions by id, or {@code null} while values of a dictionary are validated:
	 * then the versions that they refer to are not known yet.
	 */
	private final @Nullable Map<Long, DictionaryVersion> versions;

	private final Map<Long, Long> highestIndexes = new HashMap<>();

	private BatchValidator(BodyCursor cursor, @Nullable Map<Long, DictionaryVersion> versions) {
		this.cursor = cursor;
		this.versions = versions;
		this.columns = new ColumnValidator(cursor, this::checkIndexes);
	}

	/**
	 * Validates a body.
	 * @param schema the schema in memory format
	 * @param body the body, uncompressed
	 * @param dictionaries the versions its dictionary columns refer to
	 * @return the validity buffers that the body leaves out
	 * @throws InvalidRecordBatchException if the parts don't fit
	 */
	static List<SealedBuffers.MissingValidity> validate(Schema schema, ArrowRecordBatch body,
			List<DictionaryVersion> dictionaries) {
		Map<Long, DictionaryVersion> versions = new HashMap<>();
		for (DictionaryVersion version : dictionaries) {
			if (versions.put(version.id(), version) != null) {
				throw new InvalidRecordBatchException(
						"Dictionary %d is given twice; give one version for each id".formatted(version.id()));
			}
		}
		BodyCursor cursor = new BodyCursor(body, "Column");
		new BatchValidator(cursor, versions).columns(schema.getFields());
		for (DictionaryVersion version : dictionaries) {
			version.highestIndexes().forEach((id, highest) -> checkNested(version, versions.get(id), id, highest));
		}
		return cursor.missing();
	}

	private static void checkNested(DictionaryVersion outer, @Nullable DictionaryVersion inner, long id, long highest) {
		if (inner == null) {
			throw new InvalidRecordBatchException(
					"Dictionary %d is missing, which the values of dictionary %d refer to".formatted(id, outer.id()));
		}
		if (highest >= inner.valueCount()) {
			throw new InvalidRecordBatchException(
					"Dictionary %d: its values have the index %d, but dictionary %d has %d values".formatted(outer.id(),
							highest, id, inner.valueCount()));
		}
	}

	/**
	 * Validates the values of a dictionary.
	 * @param id the id of the dictionary
	 * @param field the field of the values
	 * @param body one column of values, uncompressed
	 * @return what is left out, and the indexes into other dictionaries
	 */
	static Values validateValues(long id, Field field, ArrowRecordBatch body) {
		BodyCursor cursor = new BodyCursor(body, "Dictionary %d, column".formatted(id));
		BatchValidator validator = new BatchValidator(cursor, null);
		validator.columns(List.of(field));
		return new Values(cursor.missing(), Map.copyOf(validator.highestIndexes));
	}

	private void columns(List<Field> fields) {
		int rows = this.cursor.rows();
		for (Field field : fields) {
			Column column = this.columns.column(field);
			if (column.length() != rows) {
				this.cursor.enter(field);
				throw this.cursor.failure(
						"%d values, but the batch has %d rows; call setValueCount(%d) on its vector, or setRowCount on "
								+ "the root once all vectors are filled",
						column.length(), rows, rows);
			}
		}
		this.cursor.checkConsumed();
	}

	private void checkIndexes(long id, long highest) {
		if (highest < IndexScan.NO_INDEX) {
			throw this.cursor.failure("an index into dictionary %d is negative or does not fit 63 bits", id);
		}
		if (this.versions == null) {
			this.highestIndexes.merge(id, highest, Math::max);
			return;
		}
		DictionaryVersion version = this.versions.get(id);
		if (version == null) {
			throw this.cursor.failure("dictionary %d is missing; give a version for every dictionary id of the schema",
					id);
		}
		if (highest >= version.valueCount()) {
			throw this.cursor.failure("index %d, but dictionary %d has %d values", highest, id, version.valueCount());
		}
	}

	/**
	 * What is known of the values of a dictionary.
	 *
	 * @param missing the validity buffers that are left out
	 * @param highestIndexes the highest index into each dictionary that the values refer
	 * to, {@link IndexScan#NO_INDEX} for none
	 */
	record Values(List<SealedBuffers.MissingValidity> missing, Map<Long, Long> highestIndexes) {

	}

}
