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

import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.InvalidRecordBatchException;
import org.lance.spring.stream.RecordBatch;

/**
 * Finds vectors (fixed-size lists) without any element: lance-core 7.0.0 writes a batch
 * in which no vector is null but all elements are, and can't read it again.
 */
final class VectorCheck {

	private final Schema schema;

	VectorCheck(Schema schema) {
		this.schema = schema;
	}

	/**
	 * Checks a batch.
	 * @param batch the batch, stays the caller's
	 * @throws InvalidRecordBatchException if it could not be read again
	 */
	void check(RecordBatch batch) {
		check("", this.schema.getFields(), batch.body().getNodes(), new int[1]);
	}

	/**
	 * Nodes come depth first.
	 */
	private static void check(String parent, List<Field> fields, List<ArrowFieldNode> nodes, int[] next) {
		for (Field field : fields) {
			String path = parent.isEmpty() ? field.getName() : parent + "." + field.getName();
			ArrowFieldNode node = nodes.get(next[0]++);
			if (field.getType() instanceof ArrowType.FixedSizeList && node.getLength() > 0
					&& node.getNullCount() == 0) {
				ArrowFieldNode elements = nodes.get(next[0]);
				if (elements.getNullCount() == elements.getLength()) {
					throw new InvalidRecordBatchException(
							("All elements of column '%s' are null in a batch, which Lance "
									+ "could not read again. Make the vectors null instead")
								.formatted(path));
				}
			}
			check(path, field.getChildren(), nodes, next);
		}
	}

}
