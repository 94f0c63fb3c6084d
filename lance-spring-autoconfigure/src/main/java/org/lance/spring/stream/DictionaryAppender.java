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

import java.util.Collection;
import java.util.List;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.arrow.vector.util.VectorAppender;

/**
 * Puts the values of a dictionary and of its deltas together.
 */
final class DictionaryAppender {

	static {
		StructConflicts.allow();
	}

	private DictionaryAppender() {
	}

	/**
	 * Checks, before a delta is taken, that Arrow Java can append values of the type.
	 */
	static void checkSupported(long id, Field field) {
		switch (field.getType().getTypeID()) {
			case LargeList, ListView, LargeListView, RunEndEncoded -> throw new InvalidRecordBatchException(
					("Dictionary %d grows by a delta, but Arrow Java can't append values of type %s; send it as a "
							+ "replacement")
						.formatted(id, field.getType()));
			default -> field.getChildren().forEach((child) -> checkSupported(id, child));
		}
	}

	/**
	 * Copies all parts into one body.
	 */
	static SealedBuffers append(DictionaryVersion version, Collection<ArrowRecordBatch> parts,
			BufferAllocator allocator) {
		Field field = version.field();
		try (FieldVector all = field.createVector(allocator)) {
			all.allocateNew();
			VectorAppender appender = new VectorAppender(all);
			for (ArrowRecordBatch body : parts) {
				try (FieldVector part = load(field, body, allocator)) {
					part.accept(appender, null);
				}
			}
			// The appender leaves the count of null vectors as it is.
			all.setValueCount(version.valueCount());
			ArrowRecordBatch body = VectorBody.of(version.valueCount(), List.of(all));
			BatchValidator.Values valid = BatchValidator.validateValues(version.id(), field, body);
			return SealedBuffers.seal(body, SealedBuffers.Keep.NOTHING, valid.missing(), allocator);
		}
	}

	static FieldVector load(Field field, ArrowRecordBatch body, BufferAllocator allocator) {
		VectorSchemaRoot root = VectorSchemaRoot.create(new Schema(List.of(field)), allocator);
		try {
			new VectorLoader(root).load(body);
			return root.getVector(0);
		}
		catch (Throwable ex) {
			root.close();
			throw ex;
		}
	}

}
