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

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.task.ThreadPoolTaskExecutorBuilder;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.TaskDecorator;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LanceExecutorAutoConfiguration}.
 */
class LanceExecutorAutoConfigurationTests {

	private static final String BACKGROUND = "lanceBackgroundExecutor";

	private static final String SPILL = "lanceSpillExecutor";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(LanceMemoryAutoConfiguration.class,
				LanceExecutorAutoConfiguration.class, TaskExecutionAutoConfiguration.class));

	@Test
	void whenNothingIsSetThenBothPoolsAreBounded() {
		this.runner.run((context) -> {
			ThreadPoolTaskExecutor background = executor(context, BACKGROUND);
			assertThat(background.getCorePoolSize()).isEqualTo(8);
			assertThat(background.getMaxPoolSize()).isEqualTo(8);
			assertThat(background.getQueueCapacity()).isEqualTo(100);
			ThreadPoolTaskExecutor spill = executor(context, SPILL);
			assertThat(spill.getCorePoolSize()).isEqualTo(4);
			assertThat(spill.getMaxPoolSize()).isEqualTo(4);
		});
	}

	@Test
	void whenPropertiesAreSetThenPoolsFollow() {
		this.runner
			.withPropertyValues("lance.background.threads=3", "lance.background.queue-capacity=7",
					"lance.background.keep-alive=90s", "lance.spill.threads=2")
			.run((context) -> {
				ThreadPoolTaskExecutor background = executor(context, BACKGROUND);
				assertThat(background.getMaxPoolSize()).isEqualTo(3);
				assertThat(background.getThreadPoolExecutor().getQueue().remainingCapacity()).isEqualTo(7);
				ThreadPoolTaskExecutor spill = executor(context, SPILL);
				assertThat(spill.getMaxPoolSize()).isEqualTo(2);
				for (ThreadPoolTaskExecutor pool : new ThreadPoolTaskExecutor[] { background, spill }) {
					assertThat(pool.getThreadPoolExecutor().getKeepAliveTime(TimeUnit.SECONDS)).isEqualTo(90);
					assertThat(pool.getThreadPoolExecutor().allowsCoreThreadTimeOut()).isTrue();
				}
			});
	}

	@Test
	void threadsAreNamedAfterTheirExecutor() {
		this.runner.run((context) -> {
			assertThat(threadOf(executor(context, BACKGROUND)).getName()).startsWith("lance-background-");
			assertThat(threadOf(executor(context, SPILL)).getName()).startsWith("lance-spill-");
		});
	}

	@Test
	void whenBootsExecutorIsConfiguredThenOursIsNot() {
		this.runner
			.withPropertyValues("spring.task.execution.pool.core-size=77", "spring.task.execution.pool.max-size=78",
					"spring.task.execution.pool.queue-capacity=79", "spring.task.execution.thread-name-prefix=mine-")
			.run((context) -> {
				ThreadPoolTaskExecutor background = executor(context, BACKGROUND);
				assertThat(background.getCorePoolSize()).isEqualTo(8);
				assertThat(background.getMaxPoolSize()).isEqualTo(8);
				assertThat(background.getQueueCapacity()).isEqualTo(100);
				assertThat(background.getThreadNamePrefix()).isEqualTo("lance-background-");
			});
	}

	@Test
	void whenBootsTaskExecutionIsNotConfiguredThenOursStillWorks() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(LanceMemoryAutoConfiguration.class, LanceExecutorAutoConfiguration.class))
			.run((context) -> assertThat(threadOf(executor(context, BACKGROUND))).isNotNull());
	}

	@Test
	void whenTheUserHasTwoBuildersThenOursStillWorks() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(LanceMemoryAutoConfiguration.class, LanceExecutorAutoConfiguration.class))
			.withBean("one", ThreadPoolTaskExecutorBuilder.class, ThreadPoolTaskExecutorBuilder::new)
			.withBean("two", ThreadPoolTaskExecutorBuilder.class, ThreadPoolTaskExecutorBuilder::new)
			.run((context) -> assertThat(threadOf(executor(context, BACKGROUND))).isNotNull());
	}

	@Test
	void whenTheUserHasATaskDecoratorThenItDecoratesOurTasks() {
		this.runner.withUserConfiguration(UserDecorator.class).run((context) -> {
			for (String name : new String[] { BACKGROUND, SPILL }) {
				CompletableFuture<String> seen = new CompletableFuture<>();
				executor(context, name).execute(() -> seen.complete(UserDecorator.context.get()));
				assertThat(seen).succeedsWithin(5, TimeUnit.SECONDS).isEqualTo("decorated");
			}
		});
	}

	@Test
	void whenVirtualThreadsAreOnThenOurThreadsArePlatformThreads() {
		this.runner.withPropertyValues("spring.threads.virtual.enabled=true")
			.run((context) -> assertThat(threadOf(executor(context, BACKGROUND)).toString())
				.doesNotContain("VirtualThread"));
	}

	@ParameterizedTest
	@ValueSource(strings = { BACKGROUND, SPILL })
	void whenTheUserHasAnExecutorOfThatNameThenOursBacksOff(String name) {
		this.runner.withBean(name, ExecutorService.class, Executors::newSingleThreadExecutor)
			.run((context) -> assertThat(context.getBean(name)).isNotInstanceOf(ThreadPoolTaskExecutor.class));
	}

	@Test
	void whenTheUserHasOtherExecutorsThenOursStay() {
		this.runner.withBean("mine", ThreadPoolTaskExecutor.class, ThreadPoolTaskExecutor::new)
			.run((context) -> assertThat(context).hasBean(BACKGROUND).hasBean(SPILL));
	}

	@Test
	void whenArrowIsMissingThenNothingIsConfigured() {
		this.runner.withClassLoader(new FilteredClassLoader(BufferAllocator.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(BACKGROUND).doesNotHaveBean(SPILL));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whenTheContextIsClosedThenQueuedTasksStillRunAndTheAllocatorIsThereForThem(boolean userAllocator) {
		ApplicationContextRunner runner = userAllocator ? this.runner.withUserConfiguration(UserAllocator.class)
				: this.runner;
		CountDownLatch closing = new CountDownLatch(1);
		runner = runner.withBean("closing", DisposableBean.class, () -> closing::countDown,
				(definition) -> definition.setDependsOn(BACKGROUND));
		runner.withPropertyValues("lance.background.threads=1").run((context) -> {
			BufferAllocator allocator = context.getBean(BufferAllocator.class);
			CompletableFuture<Void> task = new CompletableFuture<>();
			Executor executor = executor(context, BACKGROUND);
			executor.execute(() -> awaitUninterruptibly(closing));
			executor.execute(() -> allocate(allocator, task));
			context.close();
			assertThat(task).isCompleted();
		});
	}

	private static void allocate(BufferAllocator allocator, CompletableFuture<Void> done) {
		try {
			allocator.buffer(1).close();
			done.complete(null);
		}
		catch (Throwable ex) {
			done.completeExceptionally(ex);
		}
	}

	private static void awaitUninterruptibly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException("Nobody should interrupt this task", ex);
		}
	}

	private static ThreadPoolTaskExecutor executor(ApplicationContext context, String name) {
		return context.getBean(name, ThreadPoolTaskExecutor.class);
	}

	private static Thread threadOf(Executor executor) {
		CompletableFuture<Thread> thread = new CompletableFuture<>();
		executor.execute(() -> thread.complete(Thread.currentThread()));
		return thread.orTimeout(5, TimeUnit.SECONDS).join();
	}

	@Configuration(proxyBeanMethods = false)
	static class UserDecorator {

		private static final ThreadLocal<String> context = new ThreadLocal<>();

		@Bean
		TaskDecorator decorator() {
			return (task) -> () -> {
				context.set("decorated");
				try {
					task.run();
				}
				finally {
					context.remove();
				}
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class UserAllocator {

		@Bean
		BufferAllocator myAllocator() {
			return new RootAllocator();
		}

	}

}
