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

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.lance.Dataset;
import org.lance.spring.dataset.LanceOperations;
import org.lance.spring.dataset.LanceTemplate;
import org.lance.spring.stream.BackgroundExecutor;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of Lance datasets, with lance-core on the class path. Its native
 * library is loaded by the first use, so an application also starts where there is none.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = { LanceMemoryAutoConfiguration.class, LanceSourceAutoConfiguration.class })
@ConditionalOnClass({ BufferAllocator.class, VectorSchemaRoot.class, Dataset.class })
public final class LanceDatasetAutoConfiguration {

	/**
	 * A write is bound by the disk or the network and uses native threads of its own.
	 */
	private static final int WRITE_THREADS = 4;

	@Bean
	@ConditionalOnMissingBean(LanceOperations.class)
	LanceTemplate lanceTemplate(BufferAllocator allocator, BackgroundExecutor streams) {
		return new LanceTemplate(allocator, streams, WRITE_THREADS);
	}

}
