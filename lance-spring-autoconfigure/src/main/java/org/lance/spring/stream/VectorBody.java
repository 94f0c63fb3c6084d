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

import java.util.ArrayList;
import java.util.List;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.BaseVariableWidthViewVector;
import org.apache.arrow.vector.ExtensionTypeVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.ValueVector;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;

/**
 * Lays the buffers of vectors out as a body. Takes no reference: the body is valid while
 * the vectors are not changed, and there is nothing to release when this fails, as
 * Arrow's own unloader would have to and doesn't.
 */
final class VectorBody {

	private final List<ArrowFieldNode> nodes = new ArrayList<>();

	private final List<ArrowBuf> buffers = new ArrayList<>();

	private final List<Long> variadicCounts = new ArrayList<>();

	private VectorBody() {
	}

	/**
	 * Lays vectors out.
	 * @param rows the number of rows
	 * @param vectors the columns; must not be changed during the call
	 * @return the body, borrowed from the vectors, not to be closed
	 * @throws InvalidRecordBatchException if a vector contradicts itself
	 */
	static ArrowRecordBatch of(int rows, List<FieldVector> vectors) {
		VectorBody body = new VectorBody();
		for (FieldVector vector : vectors) {
			try {
				body.append(vector);
			}
			catch (RuntimeException ex) {
				throw new InvalidRecordBatchException(
						"Column '%s': its vector contradicts itself (%s); call setValueCount(%d) on it once it is filled"
							.formatted(vector.getName(), ex.getMessage(), rows),
						ex);
			}
		}
		return SealedBuffers.body(rows, body.nodes, body.buffers, body.variadicCounts);
	}

	private void append(FieldVector vector) {
		this.nodes.add(new ArrowFieldNode(vector.getValueCount(), vector.getNullCount()));
		List<ArrowBuf> own = vector.getFieldBuffers();
		for (ArrowBuf buffer : own) {
			// A vector may hand out indexes that contradict each other (offsets that go
			// back): it then has nothing to read, which is for the validator to refuse.
			this.buffers.add((buffer.writerIndex() >= buffer.readerIndex()) ? buffer : buffer.slice(0, 0));
		}
		if (storage(vector) instanceof BaseVariableWidthViewVector view) {
			this.variadicCounts.add((long) view.getDataBuffers().size());
		}
		for (FieldVector child : vector.getChildrenFromFields()) {
			append(child);
		}
	}

	private static ValueVector storage(ValueVector vector) {
		ValueVector storage = vector;
		while (storage instanceof ExtensionTypeVector<?> extension) {
			storage = extension.getUnderlyingVector();
		}
		return storage;
	}

}
