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
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.metrics.MemoryMetrics;
import org.lance.spring.metrics.SourceMetrics;
import org.lance.spring.metrics.SpillMetrics;
import org.lance.spring.source.StreamingWriteSourceFactory;
import org.lance.spring.spill.SpillManager;
import org.lance.spring.spill.SpillReceiver;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LanceMetricsAutoConfiguration} and the meters of both executors.
 */
class LanceMetricsAutoConfigurationTests {

	private final ApplicationContextRunner runner = Runners.all().withBean(SimpleMeterRegistry.class);

	@TempDir
	private Path folder;

	@Test
	void whenASourceIsSpilledToDiskThenTheMetersTell() {
		this.runner
			.withPropertyValues("lance.spill.memory-limit=0", "lance.spill.read-mode=read",
					"lance.spill.directories=" + this.folder)
			.run((context) -> {
				BufferAllocator allocator = context.getBean(BufferAllocator.class);
				try (SpillReceiver spill = context.getBean(SpillManager.class)
					.spill(context.getBean(StreamingWriteSourceFactory.class)
						.fromBatches(Numbers.SCHEMA, Numbers.of(allocator, 3)))) {
					EngineExtension.await(spill.written());
					List<RecordBatch> batches = EngineExtension.await(spill.read().collect());
					assertThat(value(context, "lance.source.batches")).isEqualTo(3);
					assertThat(value(context, "lance.source.rows")).isEqualTo(3000);
					assertThat(value(context, "lance.spill.active")).isOne();
					assertThat(value(context, "lance.spill.files")).isOne();
					assertThat(value(context, "lance.spill.disk.used")).isGreaterThan(24000);
					assertThat(value(context, "lance.spill.written")).isGreaterThan(24000);
					assertThat(value(context, "lance.spill.read")).isGreaterThan(24000);
					assertThat(value(context, "lance.memory.allocated")).isGreaterThan(24000);
					batches.forEach(RecordBatch::close);
				}
				Awaitility.await().untilAsserted(() -> {
					assertThat(value(context, "lance.spill.active")).isZero();
					assertThat(value(context, "lance.spill.files")).isZero();
					assertThat(value(context, "lance.spill.disk.used")).isZero();
					assertThat(value(context, "lance.memory.allocated")).isZero();
				});
			});
	}

	@Test
	void whenASpillIsInMemoryThenTheMeterTellsHowMuch() {
		this.runner.run((context) -> {
			BufferAllocator allocator = context.getBean(BufferAllocator.class);
			try (SpillReceiver spill = context.getBean(SpillManager.class)
				.spill(context.getBean(StreamingWriteSourceFactory.class)
					.fromBatches(Numbers.SCHEMA, Numbers.of(allocator, 3)))) {
				EngineExtension.await(spill.written());
				assertThat(value(context, "lance.spill.memory.used")).isGreaterThan(24000);
				assertThat(value(context, "lance.spill.written")).isZero();
			}
		});
	}

	@Test
	void whenALimitOfMemoryIsSetThenTheMeterTells() {
		this.runner.withPropertyValues("lance.spill.total-memory-limit=3MB")
			.run((context) -> assertThat(value(context, "lance.spill.memory.limit")).isEqualTo(3 * 1024 * 1024));
	}

	@Test
	void whenADiskLimitIsSetThenTheMeterTells() {
		this.runner.withPropertyValues("lance.spill.disk-limit=1MB")
			.run((context) -> assertThat(value(context, "lance.spill.disk.limit")).isEqualTo(1024 * 1024));
	}

	@Test
	void whenASpillFailsThenTheFailureIsCountedByType() {
		this.runner
			.withPropertyValues("lance.spill.memory-limit=0",
					"lance.spill.directories=" + this.folder.resolve("file").resolve("below"))
			.run((context) -> {
				java.nio.file.Files.createFile(this.folder.resolve("file"));
				SpillReceiver spill = context.getBean(SpillManager.class)
					.spill(context.getBean(StreamingWriteSourceFactory.class)
						.fromBatches(Numbers.SCHEMA, Numbers.of(context.getBean(BufferAllocator.class), 1)));
				assertThat(spill.written().toCompletableFuture()).failsWithin(5, TimeUnit.SECONDS);
				spill.close();
				MeterRegistry registry = context.getBean(MeterRegistry.class);
				assertThat(registry.get("lance.spill.failures").tag("type", "io").functionCounter().count()).isOne();
				assertThat(registry.get("lance.spill.failures").tag("type", "corrupted").functionCounter().count())
					.isZero();
			});
	}

	@Test
	void everyMeterHasADescriptionAUnitAndOnlyTagsOfAClosedSet() {
		this.runner.run((context) -> {
			List<Meter> meters = context.getBean(MeterRegistry.class)
				.getMeters()
				.stream()
				.filter((meter) -> meter.getId().getName().startsWith("lance."))
				.toList();
			assertThat(meters).isNotEmpty().allSatisfy((meter) -> {
				assertThat(meter.getId().getDescription()).isNotBlank();
				assertThat(meter.getId().getBaseUnit()).isNotBlank();
				assertThat(meter.getId().getTags()).allMatch((tag) -> tag.getKey().equals("type"));
				assertThat(meter.getId().getName()).matches("[a-z.]+").doesNotContain("bytes");
			});
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "lanceBackgroundExecutor", "lanceSpillExecutor", "applicationTaskExecutor" })
	void springBootMetersEachExecutorOnce(String name) {
		this.runner.run((context) -> assertThat(
				context.getBean(MeterRegistry.class).find("executor.pool.max").tag("name", name).gauges())
			.hasSize(1));
	}

	@Test
	void whenThereIsNoRegistryThenNothingHappens() {
		Runners.all().run((context) -> assertThat(context).hasNotFailed().hasSingleBean(SpillMetrics.class));
	}

	@Test
	void whenMicrometerIsMissingThenTheRestWorks() {
		Runners.all()
			.withClassLoader(new FilteredClassLoader("io.micrometer"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(SpillManager.class)
				.doesNotHaveBean("lanceSpillMetrics")
				.doesNotHaveBean("lanceSourceMetrics")
				.doesNotHaveBean("lanceMemoryMetrics"));
	}

	@ParameterizedTest
	@ValueSource(classes = { Endpoint.class, HealthIndicator.class })
	void whenActuatorOrHealthIsMissingThenMetersAreThereAllTheSame(Class<?> missing) {
		this.runner.withClassLoader(new FilteredClassLoader(missing.getPackageName()))
			.run((context) -> assertThat(value(context, "lance.spill.active")).isZero());
	}

	@ParameterizedTest
	@ValueSource(classes = { BufferAllocator.class, VectorSchemaRoot.class })
	void whenArrowIsMissingThenNothingIsConfigured(Class<?> missing) {
		this.runner.withClassLoader(new FilteredClassLoader(missing))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("lanceMemoryMetrics"));
	}

	@Test
	void whenTheUserHasBindersThenOursBackOff() {
		RootAllocator allocator = new RootAllocator();
		BackgroundExecutor streams = new BackgroundExecutor(Runnable::run, 1, () -> false);
		this.runner.withBean("memory", MemoryMetrics.class, () -> new MemoryMetrics(allocator))
			.withBean("source", SourceMetrics.class,
					() -> new SourceMetrics(new StreamingWriteSourceFactory(allocator, streams, 0)))
			.withBean("spill", SpillMetrics.class, () -> new SpillMetrics(
					SpillManager.builder(allocator, Runnable::run, () -> false).directory(() -> this.folder).build()))
			.run((context) -> assertThat(context).getBeans(MeterBinder.class)
				.containsKeys("memory", "source", "spill")
				.doesNotContainKeys("lanceMemoryMetrics", "lanceSourceMetrics", "lanceSpillMetrics"));
	}

	@Test
	void whenTheUserHasTwoAllocatorsThenThePrimaryOneIsMetered() {
		Runners.all()
			.withBean("one", BufferAllocator.class, RootAllocator::new, (definition) -> definition.setPrimary(true))
			.withBean("two", BufferAllocator.class, RootAllocator::new)
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(MemoryMetrics.class));
	}

	private static double value(ApplicationContext context, String name) {
		return context.getBean(MeterRegistry.class).get(name).meter().measure().iterator().next().getValue();
	}

}
