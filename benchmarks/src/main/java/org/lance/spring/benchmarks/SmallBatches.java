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

package org.lance.spring.benchmarks;

import java.util.List;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.spill.ReplaySpill;
import org.lance.spring.spill.SpillManager;
import org.lance.spring.spill.SpillOptions;
import org.lance.spring.spill.SpillSender;
import org.lance.spring.stream.RecordBatch;

/**
 * A spill of very many batches of one row and one column.
 *
 * @since 0.1.0
 */
public final class SmallBatches {

	/**
	 * More than all of them need.
	 */
	private static final long IN_MEMORY = 1L << 30;

	private static final Schema SCHEMA = new Schema(
			List.of(Field.nullable("number", new ArrowType.Int(Long.SIZE, true))));

	private SmallBatches() {
	}

	static ReplaySpill write(int count, Place place, SpillManager manager, BufferAllocator allocator) {
		ReplaySpill spill = manager.createReplaySpill(SCHEMA,
				SpillOptions.DEFAULTS.withMemoryLimit((place == Place.MEMORY) ? IN_MEMORY : 0));
		SpillSender sender = spill.sender();
		try (VectorSchemaRoot root = VectorSchemaRoot.create(SCHEMA, allocator)) {
			BigIntVector vector = (BigIntVector) root.getVector(0);
			vector.allocateNew(1);
			for (int i = 0; i < count; i++) {
				vector.set(0, i);
				root.setRowCount(1);
				try (RecordBatch batch = RecordBatch.copyOf(root, null, allocator)) {
					Engine.await(sender.write(batch));
				}
			}
		}
		Engine.await(sender.finish());
		return spill;
	}

	static void replay(ReplaySpill spill, int count) {
		long[] rows = new long[1];
		Engine.await(spill.receiver().read().forEach((batch) -> {
			try (batch) {
				rows[0] += batch.rowCount();
			}
		}));
		if (rows[0] != count) {
			throw new IllegalStateException("%d batches were written, but %d read".formatted(count, rows[0]));
		}
	}

	/**
	 * Where the batches are kept.
	 *
	 * @since 0.1.0
	 */
	public enum Place {

		/**
		 * In memory.
		 */
		MEMORY,

		/**
		 * On disk.
		 */
		DISK

	}

}
