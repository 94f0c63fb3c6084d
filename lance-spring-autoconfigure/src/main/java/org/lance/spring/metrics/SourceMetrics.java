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
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.lance.spring.source.StreamingWriteSourceFactory;

/**
 * Meters of write sources. Keep the binder as long as its registry: meters hold weak
 * references to what they measure.
 *
 * @since 0.1.0
 */
public final class SourceMetrics implements MeterBinder {

	private final StreamingWriteSourceFactory factory;

	/**
	 * Creates the binder.
	 * @param factory the factory whose sources to measure
	 */
	public SourceMetrics(StreamingWriteSourceFactory factory) {
		this.factory = factory;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		FunctionCounter.builder("lance.source.batches", this.factory, StreamingWriteSourceFactory::batches)
			.description("Record batches given out by sources")
			.baseUnit("batches")
			.register(registry);
		FunctionCounter.builder("lance.source.rows", this.factory, StreamingWriteSourceFactory::rows)
			.description("Rows given out by sources")
			.baseUnit(BaseUnits.ROWS)
			.register(registry);
	}

}
