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
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.Dataset;
import org.lance.JniLoader;
import org.lance.spring.dataset.LanceClosedException;
import org.lance.spring.dataset.LanceTemplate;
import org.lance.spring.dataset.LanceWriteMode;
import org.lance.spring.dataset.LanceWriteResult;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.source.StreamingWriteSourceFactory;
import org.lance.spring.spill.SpillClosedException;
import org.lance.spring.spill.SpillManager;
import org.lance.spring.spill.SpillReceiver;
import org.lance.spring.stream.AsyncIterator;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.stream.StreamAdmissionException;
import org.lance.spring.testing.EngineExtension;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LanceLifecycleAutoConfiguration}: the order in which all ends.
 */
@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
class LanceLifecycleAutoConfigurationTests {

	private final ApplicationContextRunner runner = Runners.all();

	@TempDir
	private Path folder;

	@TempDir
	private Path tables;

	/**
	 * Unpacking and loading it takes seconds, which no test should wait for with a clock.
	 */
	@BeforeAll
	@Timeout(300)
	static void loadTheNativeLibrary() {
		JniLoader.ensureLoaded();
	}

	@Test
	void whenTheContextIsClosedThenALiveSpillAndItsReadersComeToTheirEnd() {
		run((context) -> {
			Numbers numbers = Numbers.gated(context.getBean(BufferAllocator.class), 3);
			SpillReceiver spill = spill(context, numbers);
			CompletableFuture<Long> one = rows(spill.read());
			CompletableFuture<Long> two = rows(spill.read());
			assertThat(numbers.isBlocked()).isTrue();
			whenDraining(context, numbers::letGo);
			context.close();
			assertThat(one).isCompletedWithValue(3000L);
			assertThat(two).isCompletedWithValue(3000L);
			assertThat(this.folder).isEmptyDirectory();
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whenTheGraceTimeIsOverThenReadersGetClosedAndNothingIsLeft(boolean awaitTermination) {
		run((context) -> {
			Numbers numbers = Numbers.gated(context.getBean(BufferAllocator.class), 3);
			SpillReceiver spill = spill(context, numbers);
			CompletableFuture<Long> one = rows(spill.read());
			CompletableFuture<Long> two = rows(spill.read());
			assertThat(numbers.isBlocked()).isTrue();
			// Fails as soon as the grace time is over; then the source gives up.
			one.whenComplete((rows, failure) -> numbers.letGo());
			context.close();
			for (CompletableFuture<Long> reader : List.of(one, two)) {
				assertThat(reader).isCompletedExceptionally();
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(reader::get)
					.withCauseInstanceOf(SpillClosedException.class);
			}
			assertThat(numbers.isClosed()).isTrue();
			assertThat(this.folder).isEmptyDirectory();
		}, "lance.background.await-termination=100ms",
				"spring.task.execution.shutdown.await-termination=" + awaitTermination,
				"spring.task.execution.shutdown.await-termination-period=10s");
	}

	@Test
	void whenASourceStaysBlockedThenTheShutdownGoesOnWithoutItAndItsFilesAreGone() {
		List<Numbers> blocked = new ArrayList<>();
		try {
			run((context) -> {
				Numbers streamed = Numbers.gated(context.getBean(BufferAllocator.class), 1);
				Numbers spilled = Numbers.gated(context.getBean(BufferAllocator.class), 2);
				blocked.addAll(List.of(streamed, spilled));
				CompletableFuture<?> next = source(context, streamed).intoStream().next().toCompletableFuture();
				CompletableFuture<Long> rows = rows(spill(context, spilled).read());
				assertThat(streamed.isBlocked()).isTrue();
				assertThat(spilled.isBlocked()).isTrue();
				context.close();
				assertThatExceptionOfType(CancellationException.class).isThrownBy(next::get);
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(rows::get)
					.withCauseInstanceOf(SpillClosedException.class);
				assertThat(this.folder).isEmptyDirectory();
			}, "lance.background.await-termination=0");
		}
		finally {
			blocked.forEach(Numbers::letGo);
		}
	}

	@Test
	void whenDrainingThenNewStreamsAndSpillsAreRefusedWithTypedExceptions() {
		run((context) -> {
			BufferAllocator allocator = context.getBean(BufferAllocator.class);
			Numbers numbers = Numbers.gated(allocator, 1);
			CompletableFuture<Long> rows = rows(source(context, numbers).intoStream());
			assertThat(numbers.isBlocked()).isTrue();
			List<Throwable> refusals = Collections.synchronizedList(new ArrayList<>());
			whenDraining(context, () -> {
				refusals.add(failureOf(() -> source(context, Numbers.of(allocator, 1)).intoStream()));
				refusals.add(failureOf(() -> context.getBean(SpillManager.class).createReplaySpill(Numbers.SCHEMA)));
				numbers.letGo();
			});
			context.close();
			assertThat(rows).isCompletedWithValue(1000L);
			assertThat(refusals).hasSize(2);
			assertThat(refusals.get(0)).isInstanceOf(StreamAdmissionException.class);
			assertThat(refusals.get(1)).isInstanceOf(SpillClosedException.class);
		});
	}

	@Test
	void whenAWriteIsOpenThenItComesToItsEnd() {
		run((context) -> {
			Numbers numbers = Numbers.gated(context.getBean(BufferAllocator.class), 3);
			CompletableFuture<LanceWriteResult> write = write(context, source(context, numbers));
			assertThat(numbers.isBlocked()).isTrue();
			whenDraining(context, numbers::letGo);
			context.close();
			assertThat(EngineExtension.await(write).rows()).isEqualTo(3000);
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whenTheGraceTimeIsOverThenAWriteIsClosedAndWritesNothing(boolean spilled) {
		run((context) -> {
			Numbers numbers = Numbers.gated(context.getBean(BufferAllocator.class), 3);
			StreamingWriteSource source = spilled ? spill(context, numbers).source() : source(context, numbers);
			LanceTemplate template = context.getBean(LanceTemplate.class);
			CompletableFuture<LanceWriteResult> write = write(context, source);
			assertThat(numbers.isBlocked()).isTrue();
			write.whenComplete((result, failure) -> numbers.letGo());
			context.close();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(write::get)
				.withCauseInstanceOf(LanceClosedException.class);
			assertThat(template.openWrites()).isZero();
		}, "lance.background.await-termination=500ms");
	}

	@Test
	void whenTheGraceTimeIsLongerThanSpringBootWaitsThenTheLogSaysSo(CapturedOutput output) {
		run((context) -> assertThat(output).contains("'lance.background.await-termination' is PT9S")
			.contains("'spring.lifecycle.timeout-per-shutdown-phase'"), "lance.background.await-termination=9s",
				"spring.lifecycle.timeout-per-shutdown-phase=10s");
	}

	@Test
	void whenTheGraceTimeIsShorterThanSpringBootWaitsThenNothingIsLogged(CapturedOutput output) {
		run((context) -> assertThat(output).doesNotContain("timeout-per-shutdown-phase"),
				"lance.background.await-termination=8s", "spring.lifecycle.timeout-per-shutdown-phase=10s");
	}

	@RepeatedTest(3)
	void whenTheStartFailsThenNoThreadIsLeft() {
		this.runner
			.withPropertyValues("lance.spill.directories=" + this.folder, "lance.background.await-termination=2s")
			.withBean("webServer", SmartLifecycle.class, FailingLifecycle::new)
			.run((context) -> assertThat(context).hasFailed());
		Awaitility.await()
			.untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
				.noneMatch((name) -> name.startsWith("lance-spill-") || name.startsWith("lance-background-")));
	}

	@Test
	void whenTheContextIsStoppedAndStartedThenAllWorksAgain() {
		run((context) -> {
			ConfigurableApplicationContext stoppable = context
				.getSourceApplicationContext(ConfigurableApplicationContext.class);
			SpillReceiver before = spill(context, Numbers.of(context.getBean(BufferAllocator.class), 2));
			EngineExtension.await(before.written());
			stoppable.stop();
			assertThatExceptionOfType(SpillClosedException.class)
				.isThrownBy(() -> context.getBean(SpillManager.class).createReplaySpill(Numbers.SCHEMA));
			stoppable.start();
			assertThat(rows(before.read())).as("a complete spill lives on")
				.succeedsWithin(5, TimeUnit.SECONDS)
				.isEqualTo(2000L);
			SpillReceiver after = spill(context, Numbers.of(context.getBean(BufferAllocator.class), 3));
			assertThat(rows(after.read())).succeedsWithin(5, TimeUnit.SECONDS).isEqualTo(3000L);
		});
	}

	@Test
	void whenTheContextWasPausedAndIsClosedThenNothingIsLeft() {
		run((context) -> {
			ConfigurableApplicationContext stoppable = context
				.getSourceApplicationContext(ConfigurableApplicationContext.class);
			SpillReceiver spill = spill(context, Numbers.of(context.getBean(BufferAllocator.class), 2));
			EngineExtension.await(spill.written());
			stoppable.stop();
			context.close();
			assertThat(this.folder).isEmptyDirectory();
		});
	}

	@Test
	void whenTheContextIsClosedThenSpillsGoFirstThenExecutorsThenMemory() {
		run((context) -> {
			List<String> order = Collections.synchronizedList(new ArrayList<>());
			SpillReceiver spill = spill(context, Numbers.of(context.getBean(BufferAllocator.class), 2));
			EngineExtension.await(spill.written());
			ThreadPoolTaskExecutor spills = context.getBean("lanceSpillExecutor", ThreadPoolTaskExecutor.class);
			ThreadPoolTaskExecutor background = context.getBean("lanceBackgroundExecutor",
					ThreadPoolTaskExecutor.class);
			BufferAllocator allocator = context.getBean(BufferAllocator.class);
			spill.closed().thenRun(() -> {
				order.add("spill closed");
				if (!spills.getThreadPoolExecutor().isTerminated() && isOpen(allocator)) {
					order.add("while the executor lives");
				}
			});
			context.close();
			assertThat(order).containsExactly("spill closed", "while the executor lives");
			assertThat(spills.getThreadPoolExecutor().isTerminated()).isTrue();
			assertThat(background.getThreadPoolExecutor().isTerminated()).isTrue();
			assertThat(isOpen(allocator)).isFalse();
		});
	}

	@Test
	void whenTheApplicationIsLazyThenItIsDrainedAllTheSame() {
		run(this.runner.withInitializer(
				(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor())),
				(context) -> {
					assertThat(context.getBeanFactory().getBeanDefinition("spillManager").isLazyInit()).isTrue();
					Numbers numbers = Numbers.gated(context.getBean(BufferAllocator.class), 2);
					CompletableFuture<Long> rows = rows(spill(context, numbers).read());
					assertThat(numbers.isBlocked()).isTrue();
					whenDraining(context, numbers::letGo);
					context.close();
					assertThat(rows).isCompletedWithValue(2000L);
				});
	}

	@Test
	void whenAListenerHearsThatTheContextIsClosedThenItCanStillStream() {
		List<Long> seen = new ArrayList<>();
		run(this.runner.withInitializer((context) -> context.addApplicationListener((event) -> {
			if (event instanceof ContextClosedEvent) {
				seen.add(rows(spill(context, Numbers.of(context.getBean(BufferAllocator.class), 2)).read())
					.orTimeout(5, TimeUnit.SECONDS)
					.join());
			}
		})), (context) -> {
			context.close();
			assertThat(seen).containsExactly(2000L);
			assertThat(this.folder).isEmptyDirectory();
		});
	}

	@Test
	void whenTheContextIsClosedThenLateUsersGetTypedExceptions() {
		run((context) -> {
			BufferAllocator allocator = context.getBean(BufferAllocator.class);
			SpillManager spills = context.getBean(SpillManager.class);
			StreamingWriteSourceFactory sources = context.getBean(StreamingWriteSourceFactory.class);
			LanceTemplate template = context.getBean(LanceTemplate.class);
			SpillReceiver spill = spill(context, Numbers.of(allocator, 1));
			EngineExtension.await(spill.written());
			context.close();
			assertThatExceptionOfType(StreamAdmissionException.class)
				.isThrownBy(() -> sources.fromBatches(Numbers.SCHEMA, Numbers.of(allocator, 1)).intoStream());
			assertThatExceptionOfType(SpillClosedException.class)
				.isThrownBy(() -> spills.createReplaySpill(Numbers.SCHEMA));
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> rows(spill.read()).get())
				.withCauseInstanceOf(SpillClosedException.class);
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> template.countRows("any").toCompletableFuture().get())
				.withCauseInstanceOf(LanceClosedException.class);
		});
	}

	@Test
	void whenTheContextIsStoppedAndStartedThenTablesAreWrittenAgain() {
		run((context) -> {
			ConfigurableApplicationContext pauseable = context
				.getSourceApplicationContext(ConfigurableApplicationContext.class);
			pauseable.stop();
			pauseable.start();
			StreamingWriteSource source = context.getBean(StreamingWriteSourceFactory.class)
				.fromBatches(Numbers.SCHEMA, Numbers.of(context.getBean(BufferAllocator.class), 1));
			assertThat(write(context, source).get(60, TimeUnit.SECONDS).rows()).isEqualTo(1000);
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { BufferAllocator.class, VectorSchemaRoot.class })
	void whenArrowIsMissingThenNothingIsConfigured(Class<?> missing) {
		this.runner.withClassLoader(new FilteredClassLoader(missing))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("lanceDrain"));
	}

	@Test
	void whenLanceIsMissingThenTheRestIsDrained() {
		this.runner.withClassLoader(new FilteredClassLoader(Dataset.class))
			.run((context) -> assertThat(context).hasNotFailed().hasBean("lanceDrain"));
	}

	private void run(Scenario scenario, String... properties) {
		run(this.runner, scenario, properties);
	}

	private void run(ApplicationContextRunner runner, Scenario scenario, String... properties) {
		runner
			.withPropertyValues("lance.spill.directories=" + this.folder, "lance.spill.memory-limit=0",
					"lance.background.threads=2", "lance.spill.threads=1")
			.withPropertyValues(properties)
			.run(scenario::run);
	}

	private static StreamingWriteSource source(ApplicationContext context, Numbers numbers) {
		return context.getBean(StreamingWriteSourceFactory.class).fromBatches(Numbers.SCHEMA, numbers);
	}

	private static SpillReceiver spill(ApplicationContext context, Numbers numbers) {
		return context.getBean(SpillManager.class).spill(source(context, numbers));
	}

	private CompletableFuture<LanceWriteResult> write(ApplicationContext context, StreamingWriteSource source) {
		String table = this.tables.resolve("numbers.lance").toString();
		return context.getBean(LanceTemplate.class).write(table, source, LanceWriteMode.CREATE).toCompletableFuture();
	}

	/**
	 * Runs an action, on another thread, as soon as streams are refused.
	 */
	private static void whenDraining(ApplicationContext context, Runnable action) {
		BackgroundExecutor streams = context.getBean(BackgroundExecutor.class);
		CompletableFuture.runAsync(() -> {
			Awaitility.await().until(() -> isDraining(streams));
			action.run();
		});
	}

	private static boolean isDraining(BackgroundExecutor streams) {
		try (AsyncIterator<Integer> probe = org.lance.spring.stream.BackgroundIterator.of(List.of(1).iterator(),
				streams)) {
			return false;
		}
		catch (StreamAdmissionException ex) {
			return true;
		}
	}

	private static CompletableFuture<Long> rows(RecordBatchStream stream) {
		return stream.collect().thenApply((batches) -> {
			batches.forEach(RecordBatch::close);
			return batches.stream().mapToLong(RecordBatch::rowCount).sum();
		}).toCompletableFuture();
	}

	private static boolean isOpen(BufferAllocator allocator) {
		try {
			allocator.assertOpen();
			return true;
		}
		catch (IllegalStateException ex) {
			return false;
		}
	}

	private static Throwable failureOf(Runnable action) {
		try {
			action.run();
		}
		catch (Throwable ex) {
			return ex;
		}
		return null;
	}

	/**
	 * What is done with a context.
	 */
	private interface Scenario {

		void run(AssertableApplicationContext context) throws Throwable;

	}

	/**
	 * A server whose port is in use.
	 */
	private static final class FailingLifecycle implements SmartLifecycle {

		@Override
		public void start() {
			throw new IllegalStateException("The port is in use");
		}

		@Override
		public void stop() {
		}

		@Override
		public boolean isRunning() {
			return false;
		}

		@Override
		public int getPhase() {
			return SmartLifecycle.DEFAULT_PHASE - 2048;
		}

	}

}
