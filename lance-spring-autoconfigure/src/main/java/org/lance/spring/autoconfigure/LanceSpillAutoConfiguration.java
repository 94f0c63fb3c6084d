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

import java.nio.file.Path;
import java.util.concurrent.Executor;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.lance.spring.spill.SpillCompression;
import org.lance.spring.spill.SpillManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.system.ApplicationTemp;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.DependsOn;

/**
 * Auto-configuration of replay spills.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = { LanceMemoryAutoConfiguration.class, LanceExecutorAutoConfiguration.class,
		LanceSourceAutoConfiguration.class })
@ConditionalOnClass({ BufferAllocator.class, VectorSchemaRoot.class })
@EnableConfigurationProperties(LanceProperties.class)
public final class LanceSpillAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(LanceSpillAutoConfiguration.class);

	/**
	 * Depends on both executors, so that it is closed while they live: one removes its
	 * files, the other may still be busy with a source for a while.
	 */
	@Bean
	@ConditionalOnMissingBean
	@DependsOn(LanceExecutorAutoConfiguration.BACKGROUND_EXECUTOR_BEAN_NAME)
	SpillManager spillManager(BufferAllocator allocator,
			@Qualifier(LanceExecutorAutoConfiguration.SPILL_EXECUTOR_BEAN_NAME) Executor executor,
			LanceProperties properties) {
		LanceProperties.Spill spill = properties.spill();
		if (spill.totalMemoryLimit().toBytes() > allocator.getLimit()) {
			logger.warn(
					"Spills may hold {} bytes of memory ('lance.spill.total-memory-limit'), but the allocator gives "
							+ "only {} ('lance.memory.limit'): it may refuse memory before spills go to disk",
					spill.totalMemoryLimit().toBytes(), allocator.getLimit());
		}
		if (spill.totalMemoryLimit().compareTo(spill.memoryLimit()) < 0) {
			logger.warn(
					"All spills together may hold {} bytes of memory ('lance.spill.total-memory-limit'), which is less than "
							+ "each may hold alone: 'lance.spill.memory-limit' of {} bytes is never reached",
					spill.totalMemoryLimit().toBytes(), spill.memoryLimit().toBytes());
		}
		SpillManager.Builder builder = SpillManager.builder(allocator, executor, ExecutorShutdown.of(executor))
			.memoryLimit(spill.memoryLimit().toBytes())
			.totalMemoryLimit(spill.totalMemoryLimit().toBytes())
			.creationTraces(spill.creationTraces())
			.mode(spill.mode())
			.onUnusableDirectory(spill.onUnusableDirectory())
			.verification(spill.verification())
			.minFreeSpace(spill.minFreeSpace().toBytes())
			.minFreePercent(spill.minFreePercent())
			.directoryRetry(spill.directoryRetry())
			.readMode(spill.readMode())
			.encryption(spill.encryption().enabled());
		if (spill.diskLimit() != null) {
			builder.diskLimit(spill.diskLimit().toBytes());
		}
		compress(builder, spill.compression());
		if (spill.directories().isEmpty()) {
			return builder.directory(LanceSpillAutoConfiguration::temporaryDirectory).build();
		}
		return builder.directories(spill.directories()).build();
	}

	private static void compress(SpillManager.Builder builder, LanceProperties.Compression compression) {
		try {
			builder.compression(new SpillCompression(compression.codec(), compression.level()));
		}
		catch (IllegalStateException ex) {
			throw new InvalidConfigurationPropertyValueException("lance.spill.compression.codec", compression.codec(),
					ex.getMessage());
		}
	}

	/**
	 * Boot makes it when asked, which is on the spill executor: at each start, to look
	 * for what dead processes left behind, and for files. An application that never
	 * spills must also start where no directory can be made, so a failure is only logged
	 * at the start; the first spill that needs the directory is told.
	 */
	private static Path temporaryDirectory() {
		return new ApplicationTemp().getDir("lance-spill").toPath();
	}

}
