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

import java.util.concurrent.Executor;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.lance.spring.source.StreamingWriteSourceFactory;
import org.lance.spring.stream.BackgroundExecutor;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of write sources and of the background streams that pull them.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = { LanceMemoryAutoConfiguration.class, LanceExecutorAutoConfiguration.class })
@ConditionalOnClass({ BufferAllocator.class, VectorSchemaRoot.class })
@EnableConfigurationProperties(LanceProperties.class)
public final class LanceSourceAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	BackgroundExecutor lanceBackgroundStreams(
			@Qualifier(LanceExecutorAutoConfiguration.BACKGROUND_EXECUTOR_BEAN_NAME) Executor executor,
			LanceProperties properties) {
		LanceProperties.Background background = properties.background();
		long slots = (long) background.threads() + background.queueCapacity();
		return new BackgroundExecutor(executor, (int) Math.min(slots, Integer.MAX_VALUE),
				ExecutorShutdown.of(executor));
	}

	@Bean
	@ConditionalOnMissingBean
	StreamingWriteSourceFactory streamingWriteSourceFactory(BufferAllocator allocator, BackgroundExecutor streams,
			LanceProperties properties) {
		return new StreamingWriteSourceFactory(allocator, streams, properties.source().readAhead());
	}

}
