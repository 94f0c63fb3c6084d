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

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.source.StreamingWriteSourceFactory;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.stream.StreamAdmissionException;
import org.lance.spring.testing.EngineExtension;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LanceSourceAutoConfiguration}.
 */
class LanceSourceAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(LanceMemoryAutoConfiguration.class,
				LanceExecutorAutoConfiguration.class, LanceSourceAutoConfiguration.class));

	@Test
	void whenNothingIsSetThenSourcesArePulledOnTheBackgroundExecutor() {
		this.runner.run((context) -> {
			Numbers numbers = Numbers.of(context.getBean(BufferAllocator.class), 3);
			assertThat(rows(open(context, numbers))).isEqualTo(3000);
			assertThat(numbers.thread()).startsWith("lance-background-");
			assertThat(context.getBean(StreamingWriteSourceFactory.class).rows()).isEqualTo(3000);
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 4 })
	void whenReadAheadIsSetThenSoManyBatchesAreReadBeforeTheyAreAskedFor(int readAhead) {
		this.runner.withPropertyValues("lance.source.read-ahead=" + readAhead).run((context) -> {
			Numbers numbers = Numbers.of(context.getBean(BufferAllocator.class), 100);
			try (RecordBatchStream stream = open(context, numbers)) {
				EngineExtension.await(stream.next()).orElseThrow().close();
				Awaitility.await().untilAsserted(() -> assertThat(numbers.made()).isEqualTo(1 + readAhead));
			}
		});
	}

	@Test
	void whenAllSlotsAreTakenThenTheRefusalNamesTheProperty() {
		this.runner.withPropertyValues("lance.background.threads=1", "lance.background.queue-capacity=1")
			.run((context) -> {
				BufferAllocator allocator = context.getBean(BufferAllocator.class);
				try (RecordBatchStream one = open(context, Numbers.of(allocator, 1));
						RecordBatchStream two = open(context, Numbers.of(allocator, 1))) {
					assertThatExceptionOfType(StreamAdmissionException.class)
						.isThrownBy(() -> open(context, Numbers.of(allocator, 1)))
						.withMessageContaining("lance.background.queue-capacity")
						.satisfies((ex) -> assertThat(ex.getMaxStreams()).isEqualTo(2));
				}
			});
	}

	@Test
	void whenThreadsAndQueueAreHugeThenSlotsDoNotOverflow() {
		this.runner.withPropertyValues("lance.background.queue-capacity=" + Integer.MAX_VALUE)
			.run((context) -> assertThat(rows(open(context, Numbers.of(context.getBean(BufferAllocator.class), 1))))
				.isEqualTo(1000));
	}

	@Test
	void whenTheUserHasAnExecutorServiceOfThatNameThenItPullsSources() {
		this.runner
			.withBean("lanceBackgroundExecutor", ExecutorService.class,
					() -> Executors.newSingleThreadExecutor((task) -> new Thread(task, "mine")))
			.run((context) -> {
				Numbers numbers = Numbers.of(context.getBean(BufferAllocator.class), 1);
				assertThat(rows(open(context, numbers))).isEqualTo(1000);
				assertThat(numbers.thread()).isEqualTo("mine");
				context.getBean(ExecutorService.class).shutdown();
				assertThatExceptionOfType(StreamAdmissionException.class).as("knows that it is shut down")
					.isThrownBy(() -> open(context, numbers));
			});
	}

	@Test
	void whenTheUserHasAFactoryThenOursBacksOff() {
		this.runner
			.withBean("mine", StreamingWriteSourceFactory.class,
					() -> new StreamingWriteSourceFactory(new RootAllocator(),
							new BackgroundExecutor(Runnable::run, 1, () -> false), 0))
			.run((context) -> assertThat(context).hasSingleBean(StreamingWriteSourceFactory.class).hasBean("mine"));
	}

	@Test
	void whenTheUserHasABackgroundExecutorThenOursBacksOff() {
		this.runner
			.withBean("mine", BackgroundExecutor.class, () -> new BackgroundExecutor(Runnable::run, 1, () -> false))
			.run((context) -> assertThat(context).hasSingleBean(BackgroundExecutor.class).hasBean("mine"));
	}

	@ParameterizedTest
	@ValueSource(classes = { BufferAllocator.class, VectorSchemaRoot.class })
	void whenArrowIsMissingThenNothingIsConfigured(Class<?> missing) {
		this.runner.withClassLoader(new FilteredClassLoader(missing))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("streamingWriteSourceFactory"));
	}

	private static RecordBatchStream open(ApplicationContext context, Numbers numbers) {
		return context.getBean(StreamingWriteSourceFactory.class).fromBatches(Numbers.SCHEMA, numbers).intoStream();
	}

	private static long rows(RecordBatchStream stream) throws Exception {
		List<RecordBatch> batches = EngineExtension.await(stream.collect());
		batches.forEach(RecordBatch::close);
		return batches.stream().mapToLong(RecordBatch::rowCount).sum();
	}

}
