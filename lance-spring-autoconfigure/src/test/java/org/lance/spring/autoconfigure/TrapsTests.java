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

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.source.StreamingWriteSourceFactory;
import org.lance.spring.spill.ReplaySpill;
import org.lance.spring.spill.SpillManager;
import org.lance.spring.spill.SpillReceiver;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.BackgroundIterator;
import org.lance.spring.testing.EngineExtension;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.task.ThreadPoolTaskExecutorCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.SimpleMetadataReaderFactory;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The traps that a starter falls into without a sound, one test each.
 */
class TrapsTests {

	private static final String BACKGROUND = "lanceBackgroundExecutor";

	private static final String SPILL = "lanceSpillExecutor";

	private static final String APPLICATION = "applicationTaskExecutor";

	private final ApplicationContextRunner runner = Runners.all();

	@TempDir
	private Path folder;

	@Test
	void t01ExecutorBeansLeaveTheApplicationTaskExecutorInPlace() {
		this.runner.run((context) -> {
			assertThat(context).hasBean(APPLICATION).hasBean(BACKGROUND).hasBean(SPILL);
			assertThat(context.getBeanProvider(Executor.class).getIfUnique())
				.as("the one executor that is injected by type")
				.isSameAs(context.getBean(APPLICATION));
		});
	}

	@Test
	void t02AnExecutorOfTheUserDoesNotReplaceOurs() {
		this.runner.withBean("mine", ThreadPoolTaskExecutor.class, ThreadPoolTaskExecutor::new)
			.run((context) -> assertThat(context).hasBean("mine").hasBean(BACKGROUND).hasBean(SPILL));
	}

	@Test
	void t03OursAreInjectedByQualifierAndOurOwnBeansRunOnThem() {
		List<String> threads = Collections.synchronizedList(new ArrayList<>());
		this.runner.withUserConfiguration(Injected.class).withBean(TaskDecorator.class, () -> (task) -> {
			return () -> {
				threads.add(Thread.currentThread().getName());
				task.run();
			};
		}).withPropertyValues("lance.spill.directories=" + this.folder).run((context) -> {
			assertThat(context.getBean(Injected.class).executor).isSameAs(context.getBean(BACKGROUND));
			EngineExtension.await(context.getBean(SpillManager.class).reclaimed());
			assertThat(threads).isNotEmpty().allMatch((name) -> name.startsWith("lance-spill-"));
			threads.clear();
			EngineExtension.await(
					BackgroundIterator.of(List.of(1).iterator(), context.getBean(BackgroundExecutor.class)).collect());
			assertThat(threads).isNotEmpty().allMatch((name) -> name.startsWith("lance-background-"));
		});
	}

	@Test
	void t04ACustomizerOfTheUserDoesNotLiftTheBounds() {
		this.runner.withBean(ThreadPoolTaskExecutorCustomizer.class, () -> (executor) -> {
			executor.setCorePoolSize(999);
			executor.setMaxPoolSize(999);
			executor.setQueueCapacity(999_999);
			executor.setThreadNamePrefix("mine-");
			executor.setRejectedExecutionHandler((task, pool) -> task.run());
			executor.setWaitForTasksToCompleteOnShutdown(false);
		}).run((context) -> {
			assertThat(context.getBean(APPLICATION, ThreadPoolTaskExecutor.class).getMaxPoolSize()).isEqualTo(999);
			ThreadPoolTaskExecutor background = context.getBean(BACKGROUND, ThreadPoolTaskExecutor.class);
			assertThat(background.getCorePoolSize()).isEqualTo(8);
			assertThat(background.getMaxPoolSize()).isEqualTo(8);
			assertThat(background.getQueueCapacity()).isEqualTo(100);
			assertThat(background.getThreadNamePrefix()).isEqualTo("lance-background-");
			assertThat(background.getThreadPoolExecutor().getRejectedExecutionHandler().getClass().getName())
				.contains("AbortPolicy");
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void t05SpillsEndBeforeTheirExecutorsWhateverBootsOwnExecutorAwaits(boolean awaitTermination) {
		List<String> order = Collections.synchronizedList(new ArrayList<>());
		this.runner
			.withPropertyValues("lance.spill.memory-limit=0", "lance.spill.directories=" + this.folder,
					"spring.task.execution.shutdown.await-termination=" + awaitTermination,
					"spring.task.execution.shutdown.await-termination-period=5s")
			.run((context) -> {
				BufferAllocator allocator = context.getBean(BufferAllocator.class);
				Numbers numbers = Numbers.gated(allocator, 3);
				SpillReceiver spill = context.getBean(SpillManager.class)
					.spill(context.getBean(StreamingWriteSourceFactory.class).fromBatches(Numbers.SCHEMA, numbers));
				spill.written().thenRun(() -> order.add("written"));
				ThreadPoolTaskExecutor executor = context.getBean(SPILL, ThreadPoolTaskExecutor.class);
				context.getBean(SpillManager.class)
					.closed()
					.thenRun(() -> order.add("removed" + (isTerminated(executor) ? ", too late" : "")));
				assertThat(numbers.isBlocked()).isTrue();
				releaseWhenStopping(context, numbers);
				context.close();
				assertThat(order).containsExactly("written", "removed");
				assertThat(isTerminated(executor)).isTrue();
				assertThat(spill.closed().toCompletableFuture()).isCompleted();
				assertThat(this.folder).isEmptyDirectory();
			});
	}

	@Test
	void t06MetersAreBoundWithTheAutoConfigurationsOfThisSpringBoot() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(Stream.concat(ConventionsTests.autoConfigurations().stream(),
					Stream.of(MetricsAutoConfiguration.class, CompositeMeterRegistryAutoConfiguration.class,
							SimpleMetricsExportAutoConfiguration.class))
				.toArray(Class[]::new)))
			.run((context) -> assertThat(context.getBean(MeterRegistry.class).find("lance.spill.active").gauge())
				.isNotNull());
	}

	@Test
	void t07TheMetadataIsGeneratedWhateverTheJdk() throws IOException {
		assertThat(ConventionsTests.metadata().get("properties").findValuesAsText("name"))
			.contains("lance.spill.memory-limit");
		assertThat(Path.of("target/classes/META-INF/spring-autoconfigure-metadata.properties")).content()
			.contains("LanceSpillAutoConfiguration.ConditionalOnClass");
	}

	@Test
	void t08ParameterNamesAreInTheClassFiles() throws Exception {
		Constructor<?> constructor = SpillManager.Builder.class.getDeclaredConstructors()[0];
		Method method = SpillManager.Builder.class.getMethod("memoryLimit", long.class);
		assertThat(constructor.getParameters()).allMatch((parameter) -> parameter.isNamePresent());
		assertThat(method.getParameters()[0].getName()).isEqualTo("bytes");
	}

	@Test
	void t09ValuesAreCheckedWithoutABeanValidationProvider() {
		assertThat(ClassUtils.isPresent("jakarta.validation.Validator", null)).isFalse();
		this.runner.withPropertyValues("lance.background.threads=0")
			.run((context) -> assertThat(context).getFailure().hasStackTraceContaining("lance.background.threads"));
	}

	@Test
	void t10NoBeanMethodHasAClassCondition() {
		assertThat(ConventionsTests.autoConfigurations().stream().flatMap(ConventionsTests::beanMethods)).isNotEmpty()
			.noneMatch((method) -> method.isAnnotationPresent(ConditionalOnClass.class));
	}

	@Test
	void t11EveryConditionOfAnOptionalModuleIsItselfAConditionOnClass() throws IOException {
		for (Class<?> type : ConventionsTests.autoConfigurations()) {
			MetadataReader reader = new SimpleMetadataReaderFactory().getMetadataReader(type.getName());
			List<String> named = reader.getAnnotationMetadata()
				.getAllAnnotationAttributes(ConditionalOnClass.class.getName(), true)
				.get("value")
				.stream()
				.flatMap((value) -> Arrays.stream((String[]) value))
				.toList();
			assertThat(reader.getAnnotationMetadata().getAnnotationTypes())
				.filteredOn((annotation) -> annotation.contains("Conditional"))
				.allMatch((annotation) -> annotation.startsWith("org.springframework.boot.autoconfigure.condition.")
						|| named.contains(annotation));
		}
	}

	@Test
	void t12TheAllocatorIsTheUnsafeOneAndNettysIsNotHere() {
		assertThat(ClassUtils.isPresent("org.apache.arrow.memory.netty.NettyAllocationManager", null)).isFalse();
		this.runner.run((context) -> {
			try (ArrowBuf buffer = context.getBean(BufferAllocator.class).buffer(8)) {
				buffer.setLong(0, 42);
				assertThat(buffer.getLong(0)).isEqualTo(42);
			}
			assertThat(ClassUtils.isPresent("org.apache.arrow.memory.unsafe.UnsafeAllocationManager", null)).isTrue();
		});
	}

	@Test
	void t13WhatIsPausedStartsAgain() {
		this.runner.withPropertyValues("lance.spill.memory-limit=0", "lance.spill.directories=" + this.folder)
			.run((context) -> {
				ConfigurableApplicationContext pauseable = context
					.getSourceApplicationContext(ConfigurableApplicationContext.class);
				for (int i = 0; i < 3; i++) {
					assertThat(spillAndRead(context)).isEqualTo(2000);
					pauseable.stop();
					assertThat(context.getBean(LanceDrain.class).isRunning()).isFalse();
					pauseable.start();
					assertThat(context.getBean(LanceDrain.class).isRunning()).isTrue();
				}
				assertThat(spillAndRead(context)).isEqualTo(2000);
			});
	}

	@Test
	void t14NoMessageConverterIsRegistered() {
		this.runner.run((context) -> {
			for (String name : context.getBeanDefinitionNames()) {
				Class<?> type = context.getType(name);
				assertThat(type).as(name).isNotNull();
				assertThat(ClassUtils.getAllInterfacesForClass(type)).noneMatch(
						(implemented) -> implemented.getName().matches(".*(HttpMessageConverter|CodecCustomizer).*"));
			}
		});
	}

	@Test
	void t15GaugesAndCountersLiveAsLongAsTheContext() {
		this.runner.withBean(SimpleMeterRegistry.class)
			.withPropertyValues("lance.spill.memory-limit=0", "lance.spill.directories=" + this.folder)
			.run((context) -> {
				MeterRegistry registry = context.getBean(MeterRegistry.class);
				WeakReference<Object> probe = new WeakReference<>(new Object());
				Awaitility.await().until(() -> {
					System.gc();
					return probe.get() == null;
				});
				assertThat(registry.getMeters().stream().map(Meter::getId).map(Meter.Id::getName))
					.contains("lance.spill.active", "lance.memory.allocated", "lance.memory.lost");
				for (Meter meter : registry.getMeters()) {
					if (meter.getId().getName().startsWith("lance.")) {
						assertThat(meter.measure()).as(meter.getId().toString())
							.allMatch((measurement) -> !Double.isNaN(measurement.getValue()));
					}
				}
				// A counter of what is gone keeps its last value.
				spillAndRead(context);
				try (ReplaySpill failed = context.getBean(SpillManager.class).createReplaySpill(Numbers.SCHEMA)) {
					failed.sender().sendError(new IllegalStateException("Failed on purpose"));
				}
				assertThat(count(registry, "lance.source.batches")).isEqualTo(2);
				assertThat(count(registry, "lance.source.rows")).isEqualTo(2000);
				assertThat(count(registry, "lance.spill.written")).isPositive();
				assertThat(count(registry, "lance.spill.failures")).isEqualTo(1);
			});
	}

	private static double count(MeterRegistry registry, String name) {
		return registry.get(name).functionCounters().stream().mapToDouble(FunctionCounter::count).sum();
	}

	private static boolean isTerminated(ThreadPoolTaskExecutor executor) {
		return executor.getThreadPoolExecutor().isTerminated();
	}

	private static long spillAndRead(ApplicationContext context) throws Exception {
		try (SpillReceiver spill = context.getBean(SpillManager.class)
			.spill(context.getBean(StreamingWriteSourceFactory.class)
				.fromBatches(Numbers.SCHEMA, Numbers.of(context.getBean(BufferAllocator.class), 2)))) {
			return EngineExtension.await(spill.written()).rows();
		}
	}

	/**
	 * Lets the source go on once the drain has begun.
	 */
	private static void releaseWhenStopping(ApplicationContext context, Numbers numbers) {
		SmartLifecycle drain = context.getBean(LanceDrain.class);
		CompletableFuture.runAsync(() -> {
			Awaitility.await().atMost(10, TimeUnit.SECONDS).until(() -> !drain.isRunning());
			numbers.letGo();
		});
	}

	/**
	 * A bean of the user that wants our executor.
	 */
	static class Injected {

		@Autowired
		@Qualifier(BACKGROUND)
		private Executor executor;

	}

}
