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

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.task.ThreadPoolTaskExecutorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/**
 * Auto-configuration of the two executors. Neither is a candidate for injection by type,
 * so that the executors of the application stay what they are: ask for them by
 * {@link org.springframework.beans.factory.annotation.Qualifier @Qualifier}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = { TaskExecutionAutoConfiguration.class, LanceMemoryAutoConfiguration.class })
@ConditionalOnClass(BufferAllocator.class)
@EnableConfigurationProperties(LanceProperties.class)
public final class LanceExecutorAutoConfiguration {

	/**
	 * Name of the executor that pulls blocking sources.
	 */
	public static final String BACKGROUND_EXECUTOR_BEAN_NAME = "lanceBackgroundExecutor";

	/**
	 * Name of the executor that reads and writes spill files.
	 */
	public static final String SPILL_EXECUTOR_BEAN_NAME = "lanceSpillExecutor";

	/**
	 * What cleanup has in any case: files that outlive the process are no way to save
	 * time.
	 */
	static final long CLEANUP_MILLIS = 2000;

	@Bean(name = BACKGROUND_EXECUTOR_BEAN_NAME, defaultCandidate = false)
	@ConditionalOnMissingBean(name = BACKGROUND_EXECUTOR_BEAN_NAME)
	ThreadPoolTaskExecutor lanceBackgroundExecutor(ObjectProvider<ThreadPoolTaskExecutorBuilder> builder,
			LanceProperties properties) {
		ThreadPoolTaskExecutor executor = executor(builder, "lance-background-", properties.background().threads(),
				properties.background());
		executor.setQueueCapacity(properties.background().queueCapacity());
		return executor;
	}

	/**
	 * Its queue has no bound of its own, as refusing a task would fail a stream that was
	 * admitted, or leave a file behind. The spills and their readers bound it: one task
	 * for each writer and reader, for each spill that is moved or whose file is deleted,
	 * and for each end of them that was forgotten.
	 */
	@Bean(name = SPILL_EXECUTOR_BEAN_NAME, defaultCandidate = false)
	@ConditionalOnMissingBean(name = SPILL_EXECUTOR_BEAN_NAME)
	ThreadPoolTaskExecutor lanceSpillExecutor(ObjectProvider<ThreadPoolTaskExecutorBuilder> builder,
			LanceProperties properties) {
		ThreadPoolTaskExecutor executor = executor(builder, "lance-spill-", properties.spill().threads(),
				properties.background());
		executor.setQueueCapacity(Integer.MAX_VALUE);
		return executor;
	}

	private static ThreadPoolTaskExecutor executor(ObjectProvider<ThreadPoolTaskExecutorBuilder> builder, String prefix,
			int threads, LanceProperties.Background background) {
		// Without the customizers, which are meant for other pools and would lift the
		// bounds, but with the task decorator, which carries the context of the caller.
		long rest = Math.max(background.awaitTermination().toMillis(), CLEANUP_MILLIS);
		ThreadPoolTaskExecutor executor = builder.getIfUnique(ThreadPoolTaskExecutorBuilder::new)
			.customizers()
			.configure(new LanceTaskExecutor(rest));
		executor.setThreadNamePrefix(prefix);
		executor.setCorePoolSize(threads);
		executor.setMaxPoolSize(threads);
		executor.setAllowCoreThreadTimeOut(true);
		executor.setKeepAliveSeconds(Math.toIntExact(background.keepAlive().toSeconds()));
		// Streams go on while the application shuts down, and what is queued then is
		// cleanup: it is run, not dropped, whatever Boot's own executor is told.
		executor.setWaitForTasksToCompleteOnShutdown(true);
		executor.setAwaitTerminationMillis(rest);
		return executor;
	}

}
