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

package org.lance.spring.metrics;

import java.util.List;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link MemoryMetrics}.
 */
class MemoryMetricsTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@Test
	void whenABatchIsForgottenThenItIsCountedAndItsMemoryGivenBack() {
		MeterRegistry registry = new SimpleMeterRegistry();
		MemoryMetrics metrics = new MemoryMetrics(this.engine.allocator());
		metrics.bindTo(registry);
		double before = registry.get("lance.memory.lost").functionCounter().count();
		forgetABatch();
		assertThat(registry.get("lance.memory.allocated").gauge().value()).isPositive();
		Awaitility.await().untilAsserted(() -> {
			System.gc();
			assertThat(registry.get("lance.memory.lost").functionCounter().count()).isGreaterThan(before);
			assertThat(registry.get("lance.memory.allocated").gauge().value()).isZero();
		});
	}

	@Test
	void oneBinderServesManyRegistries() {
		MemoryMetrics metrics = new MemoryMetrics(this.engine.allocator());
		for (MeterRegistry registry : List.of(new SimpleMeterRegistry(), new SimpleMeterRegistry())) {
			metrics.bindTo(registry);
			assertThat(registry.get("lance.memory.allocated").gauge().value()).isZero();
		}
	}

	private void forgetABatch() {
		Schema schema = new Schema(List.of(Field.nullable("n", new ArrowType.Int(64, true))));
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			((BigIntVector) root.getVector(0)).setSafe(0, 1);
			root.setRowCount(1);
			RecordBatch.copyOf(root, null, this.engine.allocator());
		}
	}

}
