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

import java.util.BitSet;
import java.util.List;
import java.util.function.IntPredicate;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.InvalidRecordBatchException;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;

/**
 * Finds nulls in columns that allow none. Nulls below a null parent are no values and
 * don't count. Batches without nulls in such columns, nearly all, cost a look at their
 * null counts only.
 */
final class NullCheck {

	private final Schema schema;

	private final BufferAllocator allocator;

	/**
	 * Creates a check.
	 * @param schema the fields that allow nulls
	 * @param allocator for the vectors of batches to look at, not charged for them
	 */
	NullCheck(Schema schema, BufferAllocator allocator) {
		this.schema = schema;
		this.allocator = allocator;
	}

	/**
	 * Checks a batch.
	 * @param batch the batch, stays the caller's
	 * @throws InvalidRecordBatchException if there is a null where none is allowed
	 */
	void check(RecordBatch batch) {
		List<ArrowFieldNode> nodes = batch.body().getNodes();
		if (!suspicious(this.schema.getFields(), nodes, new int[1])) {
			return;
		}
		try (OpenBatch open = batch.open(this.allocator)) {
			List<Field> fields = this.schema.getFields();
			for (int i = 0; i < fields.size(); i++) {
				check(fields.get(i).getName(), open.root().getVector(i), fields.get(i), (row) -> true);
			}
		}
	}

	/**
	 * Nodes come depth first.
	 */
	private static boolean suspicious(List<Field> fields, List<ArrowFieldNode> nodes, int[] next) {
		boolean found = false;
		for (Field field : fields) {
			ArrowFieldNode node = nodes.get(next[0]++);
			found |= !field.isNullable() && node.getNullCount() != 0;
			found |= suspicious(field.getChildren(), nodes, next);
		}
		return found;
	}

	private static void check(String path, FieldVector vector, Field field, IntPredicate present) {
		if (!field.isNullable()) {
			for (int i = 0; i < vector.getValueCount(); i++) {
				if (present.test(i) && vector.isNull(i)) {
					throw new InvalidRecordBatchException(
							"Column '%s' has a null, first at position %d, but allows none".formatted(path, i));
				}
			}
		}
		List<FieldVector> children = vector.getChildrenFromFields();
		IntPredicate below = children.isEmpty() ? present : below(vector, present);
		for (int i = 0; i < children.size(); i++) {
			Field child = field.getChildren().get(i);
			check(path + "." + child.getName(), children.get(i), child, below);
		}
	}

	/**
	 * Tells which values of the children of a vector belong to something that is there.
	 * @param vector the vector
	 * @param present the same for the vector itself
	 * @return whether a child's value at a position counts
	 */
	static IntPredicate below(FieldVector vector, IntPredicate present) {
		if (vector instanceof StructVector) {
			return (i) -> present.test(i) && !vector.isNull(i);
		}
		if (vector instanceof FixedSizeListVector list) {
			int size = list.getListSize();
			return (i) -> present.test(i / size) && !vector.isNull(i / size);
		}
		BitSet covered = new BitSet();
		for (int i = 0; i < vector.getValueCount(); i++) {
			if (present.test(i) && !vector.isNull(i)) {
				if (vector instanceof ListVector list) {
					covered.set(list.getElementStartIndex(i), list.getElementEndIndex(i));
				}
				else if (vector instanceof LargeListVector list) {
					covered.set(Math.toIntExact(list.getElementStartIndex(i)),
							Math.toIntExact(list.getElementEndIndex(i)));
				}
			}
		}
		return covered::get;
	}

}
