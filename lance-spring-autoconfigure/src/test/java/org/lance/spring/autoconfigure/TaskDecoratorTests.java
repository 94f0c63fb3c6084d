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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.apache.arrow.memory.BufferAllocator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.source.StreamingWriteSourceFactory;
import org.lance.spring.spill.SpillManager;
import org.lance.spring.spill.SpillReceiver;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.BackgroundIterator;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.task.TaskDecorator;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of what task decorators of the application can do to the engine: nothing.
 */
@ExtendWith(OutputCaptureExtension.class)
class TaskDecoratorTests {

	private static final List<String> EXECUTORS = List.of("lanceBackgroundExecutor", "lanceSpillExecutor");

	private final ApplicationContextRunner runner = Runners.all();

	@TempDir
	private Path folder;

	static Stream<Arguments> decorators() {
		IllegalStateException failure = new IllegalStateException("No request is bound to this thread");
		return Stream.of(Arguments.of("fails", (TaskDecorator) (task) -> {
			throw failure;
		}), Arguments.of("fails with an error", (TaskDecorator) (task) -> {
			throw new NoClassDefFoundError("missing");
		}), Arguments.of("gives nothing", (TaskDecorator) (task) -> null),
				Arguments.of("fails before the task", (TaskDecorator) (task) -> () -> {
					throw failure;
				}), Arguments.of("fails after the task", (TaskDecorator) (task) -> () -> {
					task.run();
					throw failure;
				}), Arguments.of("drops the task", (TaskDecorator) (task) -> () -> {
				}), Arguments.of("runs the task twice", (TaskDecorator) (task) -> () -> {
					task.run();
					task.run();
				}));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("decorators")
	void whateverADecoratorDoesThenSpillsAreWrittenReadAndRemoved(String what, TaskDecorator decorator) {
		this.runner.withBean(TaskDecorator.class, () -> decorator)
			.withPropertyValues("lance.spill.memory-limit=0", "lance.spill.directories=" + this.folder,
					"lance.background.threads=1", "lance.spill.threads=1")
			.run((context) -> {
				BufferAllocator allocator = context.getBean(BufferAllocator.class);
				EngineExtension.await(context.getBean(SpillManager.class).reclaimed());
				try (SpillReceiver spill = context.getBean(SpillManager.class)
					.spill(context.getBean(StreamingWriteSourceFactory.class)
						.fromBatches(Numbers.SCHEMA, Numbers.of(allocator, 5)))) {
					assertThat(EngineExtension.await(spill.written()).rows()).isEqualTo(5000);
					List<RecordBatch> batches = EngineExtension.await(spill.read().collect());
					batches.forEach(RecordBatch::close);
					assertThat(batches).hasSize(5);
				}
				Awaitility.await().atMost(5, TimeUnit.SECONDS).untilAsserted(() -> {
					assertThat(allocator.getAllocatedMemory()).isZero();
					assertThat(context.getBean(BackgroundExecutor.class).openStreams()).isZero();
				});
			});
		assertThat(this.folder).isEmptyDirectory();
	}

	@Test
	void whenADecoratorFailsThenTheLogSaysSoOnce(CapturedOutput output) {
		this.runner.withBean(TaskDecorator.class, () -> (task) -> {
			throw new IllegalStateException("No request is bound to this thread");
		}).run((context) -> {
			for (int i = 0; i < 3; i++) {
				EngineExtension
					.await(BackgroundIterator.of(List.of(1).iterator(), context.getBean(BackgroundExecutor.class))
						.collect());
			}
			ThreadPoolTaskExecutor executor = context.getBean(EXECUTORS.get(0), ThreadPoolTaskExecutor.class);
			assertThat(executor.submit(() -> 1).get(5, TimeUnit.SECONDS)).isEqualTo(1);
			// One for each executor at most.
			assertThat(output.toString().split("A task decorator failed", -1)).hasSizeBetween(2, 3);
			assertThat(output).contains("No request is bound to this thread");
		});
	}

	@Test
	void whenADecoratorRunsATaskTwiceThenItRunsOnce() {
		this.runner.withBean(TaskDecorator.class, () -> (task) -> () -> {
			task.run();
			task.run();
		}).run((context) -> {
			AtomicInteger runs = new AtomicInteger();
			ThreadPoolTaskExecutor executor = context.getBean(EXECUTORS.get(0), ThreadPoolTaskExecutor.class);
			executor.execute(runs::incrementAndGet);
			context.close();
			assertThat(runs).hasValue(1);
		});
	}

	@Test
	void whenATaskItselfFailsThenItsThreadLearnsOfItAndTheDecoratorIsNotBlamed(CapturedOutput output) {
		this.runner.withBean(TaskDecorator.class, () -> (task) -> () -> task.run()).run((context) -> {
			for (String name : EXECUTORS) {
				AtomicInteger runs = new AtomicInteger();
				CompletableFuture<Throwable> uncaught = new CompletableFuture<>();
				IllegalStateException failure = new IllegalStateException("task");
				context.getBean(name, ThreadPoolTaskExecutor.class).execute(() -> {
					runs.incrementAndGet();
					Thread.currentThread().setUncaughtExceptionHandler((thread, ex) -> uncaught.complete(ex));
					throw failure;
				});
				assertThat(EngineExtension.await(uncaught)).isSameAs(failure);
				assertThat(runs).hasValue(1);
			}
			assertThat(output).doesNotContain("A task decorator");
		});
	}

}
