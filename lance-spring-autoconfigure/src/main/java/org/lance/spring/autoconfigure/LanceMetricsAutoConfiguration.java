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

package org.lance.spring.autoconfigure;

import io.micrometer.core.instrument.binder.MeterBinder;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.lance.spring.metrics.MemoryMetrics;
import org.lance.spring.metrics.SourceMetrics;
import org.lance.spring.metrics.SpillMetrics;
import org.lance.spring.source.StreamingWriteSourceFactory;
import org.lance.spring.spill.SpillManager;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the meters. Spring Boot binds them to whatever registries there
 * are, and meters the two executors by itself.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = { LanceMemoryAutoConfiguration.class, LanceSourceAutoConfiguration.class,
		LanceSpillAutoConfiguration.class })
@ConditionalOnClass({ MeterBinder.class, BufferAllocator.class, VectorSchemaRoot.class })
public final class LanceMetricsAutoConfiguration {

	@Bean
	@ConditionalOnSingleCandidate(BufferAllocator.class)
	@ConditionalOnMissingBean
	MemoryMetrics lanceMemoryMetrics(BufferAllocator allocator) {
		return new MemoryMetrics(allocator);
	}

	@Bean
	@ConditionalOnSingleCandidate(StreamingWriteSourceFactory.class)
	@ConditionalOnMissingBean
	SourceMetrics lanceSourceMetrics(StreamingWriteSourceFactory factory) {
		return new SourceMetrics(factory);
	}

	@Bean
	@ConditionalOnSingleCandidate(SpillManager.class)
	@ConditionalOnMissingBean
	SpillMetrics lanceSpillMetrics(SpillManager spills) {
		return new SpillMetrics(spills);
	}

}
