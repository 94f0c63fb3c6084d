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

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.dictionary.DictionaryEncoder;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.DictionaryVersion;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;

/**
 * Batches of one column of texts with a dictionary that changes on the way: once it gets
 * more values, once others.
 */
final class DictionaryBatches {

	static final int ROWS = 100;

	private static final DictionaryEncoding ENCODING = new DictionaryEncoding(7, false, null);

	static final Schema SCHEMA = new Schema(
			List.of(new Field("text", new FieldType(true, ENCODING.getIndexType(), ENCODING), null)));

	private final BufferAllocator allocator;

	DictionaryBatches(BufferAllocator allocator) {
		this.allocator = allocator;
	}

	/**
	 * Makes five batches.
	 */
	List<RecordBatch> five() {
		List<RecordBatch> batches = new ArrayList<>();
		try (DictionaryVersion first = dictionary(null, "a", "b");
				DictionaryVersion more = dictionary(first, "c");
				DictionaryVersion other = dictionary(null, "x", "y", "z")) {
			batches.add(batch(first, 0));
			batches.add(batch(first, 1));
			batches.add(batch(more, 2));
			batches.add(batch(other, 1));
			batches.add(batch(other, 2));
		}
		return batches;
	}

	/**
	 * What is in them.
	 */
	static List<String> values() {
		return List.of("a", "b", "c", "y", "z");
	}

	/**
	 * Takes the one text of a batch, and closes it.
	 */
	String take(RecordBatch batch) {
		try (batch; OpenBatch open = batch.open(this.allocator)) {
			FieldVector column = open.root().getVector(0);
			try (FieldVector decoded = (FieldVector) DictionaryEncoder.decode(column,
					open.dictionaries().lookup(ENCODING.getId()))) {
				String text = String.valueOf(decoded.getObject(0));
				for (int i = 0; i < ROWS; i++) {
					if (!text.equals(String.valueOf(decoded.getObject(i)))) {
						throw new AssertionError("Row %d is %s and not %s".formatted(i, decoded.getObject(i), text));
					}
				}
				return (decoded.getValueCount() == ROWS) ? text : decoded.getValueCount() + " rows";
			}
		}
	}

	private RecordBatch batch(DictionaryVersion version, int index) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(SCHEMA, this.allocator)) {
			IntVector column = (IntVector) root.getVector(0);
			for (int i = 0; i < ROWS; i++) {
				column.setSafe(i, index);
			}
			root.setRowCount(ROWS);
			try (ArrowRecordBatch body = new VectorUnloader(root).getRecordBatch()) {
				return RecordBatch.seal(SCHEMA, body, List.of(version), this.allocator);
			}
		}
	}

	private DictionaryVersion dictionary(DictionaryVersion previous, String... values) {
		try (VarCharVector vector = new VarCharVector("values", this.allocator)) {
			for (int i = 0; i < values.length; i++) {
				vector.setSafe(i, values[i].getBytes(StandardCharsets.UTF_8));
			}
			vector.setValueCount(values.length);
			try (ArrowRecordBatch body = new VectorUnloader(VectorSchemaRoot.of(vector)).getRecordBatch()) {
				return DictionaryVersion.seal(ENCODING.getId(), vector.getField(), body, previous, this.allocator);
			}
		}
	}

}
