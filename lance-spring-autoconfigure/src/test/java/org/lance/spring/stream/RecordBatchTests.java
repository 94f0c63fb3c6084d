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

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

class RecordBatchTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@Test
	void whenRootIsReusedThenSealedBatchesKeepTheirContents() throws Exception {
		Schema schema = new Schema(List.of(Field.nullable("n", new ArrowType.Int(64, true))));
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			BigIntVector vector = (BigIntVector) root.getVector(0);
			AtomicLong sum = new AtomicLong();
			RecordBatchStream stream = RecordBatchStream.background(schema, java.util.Map.of(),
					IntStream.range(0, 5).mapToObj((i) -> {
						vector.setSafe(0, i);
						root.setRowCount(1);
						return RecordBatch.copyOf(root, null, this.engine.allocator());
					}).iterator(), this.engine.background(1), 2);
			List<RecordBatch> batches = EngineExtension.await(stream.collect());
			for (RecordBatch batch : batches) {
				try (batch; OpenBatch open = batch.open(this.engine.allocator())) {
					sum.addAndGet(((BigIntVector) open.root().getVector(0)).get(0));
				}
			}
			assertThat(sum).hasValue(10);
		}
	}

}
