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

import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.Dataset;
import org.lance.spring.dataset.LanceOperations;
import org.lance.spring.dataset.LanceTemplate;
import org.lance.spring.dataset.LanceWriteMode;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.source.StreamingWriteSourceFactory;
import org.lance.spring.testing.EngineExtension;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LanceDatasetAutoConfiguration}.
 */
class LanceDatasetAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(LanceMemoryAutoConfiguration.class, LanceExecutorAutoConfiguration.class,
					LanceSourceAutoConfiguration.class, LanceDatasetAutoConfiguration.class));

	@TempDir
	private Path folder;

	@Test
	void whenASourceIsWrittenThenTheTableHasItsRows() {
		this.runner.withPropertyValues("lance.background.threads=1").run((context) -> {
			BufferAllocator allocator = context.getBean(BufferAllocator.class);
			StreamingWriteSource source = context.getBean(StreamingWriteSourceFactory.class)
				.fromBatches(Numbers.SCHEMA, Numbers.of(allocator, 3));
			LanceOperations lance = context.getBean(LanceOperations.class);
			String table = this.folder.resolve("numbers.lance").toString();
			// The first use unpacks and loads the native library.
			lance.write(table, source, LanceWriteMode.CREATE).toCompletableFuture().get(60, TimeUnit.SECONDS);
			assertThat(EngineExtension.await(lance.countRows(table))).isEqualTo(3000);
		});
	}

	@Test
	void whenNothingIsWrittenThenNoThreadIsThere() {
		this.runner.run((context) -> {
			assertThat(context).hasSingleBean(LanceTemplate.class);
			Set<String> threads = Thread.getAllStackTraces()
				.keySet()
				.stream()
				.filter(Thread::isAlive)
				.map(Thread::getName)
				.collect(Collectors.toSet());
			assertThat(threads).noneMatch((name) -> name.startsWith("lance-background"));
		});
	}

	@Test
	void whenTheUserHasLanceOperationsThenOursBacksOff() {
		LanceOperations mine = (LanceOperations) Proxy.newProxyInstance(getClass().getClassLoader(),
				List.of(LanceOperations.class).toArray(Class[]::new), (proxy, method, arguments) -> null);
		this.runner.withBean("mine", LanceOperations.class, () -> mine)
			.run((context) -> assertThat(context).hasSingleBean(LanceOperations.class)
				.doesNotHaveBean(LanceTemplate.class));
	}

	@ParameterizedTest
	@ValueSource(classes = { BufferAllocator.class, VectorSchemaRoot.class, Dataset.class })
	void whenALibraryIsMissingThenNothingIsConfigured(Class<?> missing) {
		this.runner.withClassLoader(new FilteredClassLoader(missing))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("lanceTemplate"));
	}

}
