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

import java.util.List;
import java.util.function.IntPredicate;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;

/**
 * Finds null structs that have a list somewhere below. lance-core 7.0.0 writes them, but
 * where their values are sparse or long it reads other values than were written, or ends
 * the JVM when it reads, so that one such batch would make a whole table unreadable. It
 * depends on what is null around them; without null structs, all is well.
 */
final class NullStructCheck {

	private final Schema schema;

	private final BufferAllocator allocator;

	private final boolean needed;

	/**
	 * Creates a check.
	 * @param schema the schema of all batches, in memory format
	 * @param allocator for the vectors of batches to look at, not charged for them
	 */
	NullStructCheck(Schema schema, BufferAllocator allocator) {
		this.schema = schema;
		this.allocator = allocator;
		this.needed = schema.getFields().stream().anyMatch(NullStructCheck::mayMatter);
	}

	/**
	 * Checks a batch.
	 * @param batch the batch, stays the caller's
	 * @throws UnsupportedColumnException if it could not be read again
	 */
	void check(RecordBatch batch) {
		if (!this.needed) {
			return;
		}
		try (OpenBatch open = batch.open(this.allocator)) {
			check("", this.schema.getFields(), open.root().getFieldVectors(), (row) -> true);
		}
	}

	private static void check(String parent, List<Field> fields, List<FieldVector> vectors, IntPredicate present) {
		for (int i = 0; i < vectors.size(); i++) {
			Field field = fields.get(i);
			if (!mayMatter(field)) {
				continue;
			}
			FieldVector vector = vectors.get(i);
			String path = parent.isEmpty() ? field.getName() : parent + "." + field.getName();
			if (isStruct(field) && hasListBelow(field) && hasNull(vector, present)) {
				throw new UnsupportedColumnException(path,
						("Column '%s' has null structs with lists in them, which lance-core 7.0.0 does not read back "
								+ "reliably. Use structs whose fields are null or empty instead")
							.formatted(path));
			}
			check(path, field.getChildren(), vector.getChildrenFromFields(), NullCheck.below(vector, present));
		}
	}

	private static boolean hasNull(FieldVector vector, IntPredicate present) {
		if (vector.getNullCount() == 0) {
			return false;
		}
		for (int i = 0; i < vector.getValueCount(); i++) {
			if (vector.isNull(i) && present.test(i)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Tells whether there is a nullable struct with a list below.
	 */
	private static boolean mayMatter(Field field) {
		return (isStruct(field) && field.isNullable() && hasListBelow(field))
				|| field.getChildren().stream().anyMatch(NullStructCheck::mayMatter);
	}

	private static boolean hasListBelow(Field field) {
		return field.getChildren().stream().anyMatch((child) -> isList(child) || hasListBelow(child));
	}

	private static boolean isStruct(Field field) {
		return field.getType() instanceof ArrowType.Struct;
	}

	private static boolean isList(Field field) {
		return field.getType() instanceof ArrowType.List || field.getType() instanceof ArrowType.LargeList;
	}

}
