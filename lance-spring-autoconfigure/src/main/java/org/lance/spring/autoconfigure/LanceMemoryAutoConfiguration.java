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
import org.apache.arrow.memory.RootAllocator;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the allocator of all record batches. It is closed last: the
 * executors, whose tasks use its memory, depend on it, and all else depends on them.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@ConditionalOnClass(BufferAllocator.class)
@EnableConfigurationProperties(LanceProperties.class)
public final class LanceMemoryAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(BufferAllocator.class)
	RootAllocator lanceAllocator(LanceProperties properties, ApplicationContext context) {
		ClassLoader classLoader = context.getClassLoader();
		return ArrowMemory.open(properties.memory().limit().toBytes(),
				(classLoader != null) ? classLoader : BufferAllocator.class.getClassLoader());
	}

	@Bean
	static AllocatorOutlivesExecutors lanceAllocatorOutlivesExecutors() {
		return new AllocatorOutlivesExecutors();
	}

}
