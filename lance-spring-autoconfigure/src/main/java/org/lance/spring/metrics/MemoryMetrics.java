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

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.apache.arrow.memory.BufferAllocator;
import org.lance.spring.stream.RecordBatch;

/**
 * Meters of the memory of record batches. Keep the binder as long as its registry: meters
 * hold weak references to what they measure.
 *
 * @since 0.1.0
 */
public final class MemoryMetrics implements MeterBinder {

	private final BufferAllocator allocator;

	/**
	 * Creates the binder.
	 * @param allocator the allocator to measure
	 */
	public MemoryMetrics(BufferAllocator allocator) {
		this.allocator = allocator;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		Gauge.builder("lance.memory.allocated", this.allocator, BufferAllocator::getAllocatedMemory)
			.description("Off-heap memory allocated for record batches")
			.baseUnit(BaseUnits.BYTES)
			.register(registry);
		FunctionCounter.builder("lance.memory.lost", this, (self) -> RecordBatch.lostHandles())
			.description("Record batches that were never closed and given back by the garbage collector")
			.baseUnit("batches")
			.register(registry);
	}

}
