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
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.spill.ReplaySpill;
import org.lance.spring.spill.SpillAbandonedException;
import org.lance.spring.spill.SpillCorruptedException;
import org.lance.spring.spill.SpillDiskFullException;
import org.lance.spring.spill.SpillException;
import org.lance.spring.spill.SpillManager;
import org.lance.spring.spill.SpillQuotaExceededException;
import org.lance.spring.spill.SpillRejectedException;
import org.lance.spring.spill.SpillSender;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.WithoutLibrary;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.system.ApplicationTemp;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Tests for {@link LanceSpillAutoConfiguration}.
 */
@ExtendWith(OutputCaptureExtension.class)
class LanceSpillAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(LanceMemoryAutoConfiguration.class,
				LanceExecutorAutoConfiguration.class, LanceSpillAutoConfiguration.class));

	@TempDir
	private Path folder;

	@Test
	void whenNothingIsSetThenASmallSpillStaysInMemory() {
		this.runner.run((context) -> {
			try (ReplaySpill spill = spill(context, 2)) {
				assertThat(rows(spill)).isEqualTo(2000);
				assertThat(context.getBean(SpillManager.class).statistics().files()).isZero();
			}
			assertThat(context.getBean(SpillManager.class).statistics().memoryLimit()).isEqualTo(1024L * 1024 * 1024);
		});
	}

	@Test
	void whenNoDirectoryIsSetThenFilesAreInTheTemporaryDirectoryOfTheApplication() {
		Path temporary = new ApplicationTemp().getDir("lance-spill").toPath();
		this.runner.withPropertyValues("lance.spill.memory-limit=0").run((context) -> {
			try (ReplaySpill spill = spill(context, 2)) {
				assertThat(files(temporary)).hasSize(1);
				assertThat(rows(spill)).isEqualTo(2000);
			}
		});
		assertThat(files(temporary)).isEmpty();
	}

	@Test
	void whenADirectoryIsSetThenFilesAreThereAndGoneWithTheContext() {
		directory().withPropertyValues("lance.spill.memory-limit=0").run((context) -> {
			spill(context, 2);
			assertThat(files(this.folder)).hasSize(1);
		});
		assertThat(this.folder).isEmptyDirectory();
	}

	@ParameterizedTest
	@ValueSource(strings = { "lance.spill.memory-limit=10KB", "lance.spill.total-memory-limit=10KB" })
	void whenAMemoryLimitIsSmallerThanTheSpillThenItGoesToDisk(String limit) {
		directory().withPropertyValues(limit).run((context) -> {
			try (ReplaySpill one = spill(context, 1)) {
				assertThat(one.snapshot().diskBytes()).isZero();
			}
			try (ReplaySpill two = spill(context, 2)) {
				assertThat(two.snapshot().diskBytes()).isPositive();
			}
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "always", "first-read" })
	void whenBatchesAreVerifiedThenAFlippedBitIsAnError(String verification) {
		directory().withPropertyValues("lance.spill.memory-limit=0", "lance.spill.verification=" + verification)
			.run((context) -> {
				try (ReplaySpill spill = spill(context, 1)) {
					flipTheLastBitOfTheFirstBody(spill);
					assertThatExceptionOfType(SpillCorruptedException.class)
						.isThrownBy(() -> unwrap(() -> rows(spill)));
				}
			});
	}

	@Test
	void whenBatchesAreNeverVerifiedThenAFlippedBitPasses() {
		directory().withPropertyValues("lance.spill.memory-limit=0", "lance.spill.verification=never")
			.run((context) -> {
				try (ReplaySpill spill = spill(context, 1)) {
					flipTheLastBitOfTheFirstBody(spill);
					assertThat(rows(spill)).isEqualTo(1000);
				}
			});
	}

	@Test
	void whenTheModeIsFailThenTheDiskIsNotTouched() {
		directory().withPropertyValues("lance.spill.memory-limit=10KB", "lance.spill.mode=fail").run((context) -> {
			assertThatExceptionOfType(SpillRejectedException.class).isThrownBy(() -> unwrap(() -> spill(context, 2)));
			assertThat(this.folder).isEmptyDirectory();
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whenCreationTracesAreOnThenALostSenderIsToldWithItsPlace(boolean on) {
		directory().withPropertyValues("lance.spill.creation-traces=" + on).run((context) -> {
			ReplaySpill spill = context.getBean(SpillManager.class).createReplaySpill(Numbers.SCHEMA);
			loseSender(spill);
			CompletableFuture<?> written = spill.receiver().written().toCompletableFuture();
			Awaitility.await().until(() -> {
				System.gc();
				return written.isDone();
			});
			assertThatExceptionOfType(SpillAbandonedException.class)
				.isThrownBy(() -> unwrap(() -> EngineExtension.await(written)))
				.satisfies((failure) -> assertThat(failure.getCause() != null).isEqualTo(on));
		});
	}

	private static void loseSender(ReplaySpill spill) {
		spill.sender();
	}

	@Test
	void whenTheDirectoryIsUnusableThenASpillMayStayInMemory() throws IOException {
		Path file = Files.createFile(this.folder.resolve("file"));
		this.runner
			.withPropertyValues("lance.spill.directories=" + file.resolve("base"), "lance.spill.memory-limit=0",
					"lance.spill.on-unusable-directory=memory")
			.run((context) -> {
				try (ReplaySpill spill = spill(context, 2)) {
					assertThat(rows(spill)).isEqualTo(2000);
					assertThat(spill.snapshot().memoryBytes()).isPositive();
				}
			});
	}

	@Test
	void whenFilesAreMappedThenBatchesTakeNoMemoryOfTheAllocator() {
		directory().withPropertyValues("lance.spill.memory-limit=0").run((context) -> {
			try (ReplaySpill spill = spill(context, 2); RecordBatchStream stream = spill.receiver().read()) {
				try (RecordBatch batch = EngineExtension.await(stream.next()).orElseThrow()) {
					assertThat(batch.rowCount()).isEqualTo(1000);
					assertThat(context.getBean(BufferAllocator.class).getAllocatedMemory()).isZero();
				}
			}
		});
	}

	@Test
	void whenFilesAreReadThenBatchesTakeMemoryOfTheAllocator() {
		directory().withPropertyValues("lance.spill.memory-limit=0", "lance.spill.read-mode=read").run((context) -> {
			try (ReplaySpill spill = spill(context, 2); RecordBatchStream stream = spill.receiver().read()) {
				try (RecordBatch batch = EngineExtension.await(stream.next()).orElseThrow()) {
					assertThat(batch.rowCount()).isEqualTo(1000);
					assertThat(context.getBean(BufferAllocator.class).getAllocatedMemory()).isGreaterThan(8000);
				}
			}
		});
	}

	@Test
	void whenCompressionIsOnThenFilesAreSmallerAndALevelOfItsOwnMakesThemOther() {
		List<Long> sizes = new ArrayList<>();
		for (String[] properties : new String[][] { {}, { "lance.spill.compression.codec=zstd" },
				{ "lance.spill.compression.codec=zstd", "lance.spill.compression.level=19" } }) {
			directory().withPropertyValues("lance.spill.memory-limit=0")
				.withPropertyValues(properties)
				.run((context) -> {
					try (ReplaySpill spill = spill(context, 20)) {
						sizes.add(spill.snapshot().diskBytes());
						assertThat(rows(spill)).isEqualTo(20_000);
					}
				});
		}
		assertThat(sizes.get(1)).isPositive().isLessThan(sizes.get(0) / 2);
		assertThat(sizes.get(2)).isNotEqualTo(sizes.get(1));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void whenEncryptionIsOnThenFilesDontSayWhatTheyHold(boolean enabled) {
		directory().withPropertyValues("lance.spill.memory-limit=0", "lance.spill.encryption.enabled=" + enabled)
			.run((context) -> {
				try (ReplaySpill spill = spill(context, 2)) {
					assertThat(rows(spill)).isEqualTo(2000);
					byte[] bytes = Files.readAllBytes(files(this.folder).get(0));
					assertThat(Arrays.equals(bytes, 0, 4, new byte[] { -1, -1, -1, -1 }, 0, 4)).isEqualTo(!enabled);
				}
			});
	}

	@Test
	void whenTheLibraryOfACodecIsMissingThenTheStartEndsWithASentenceThatNamesTheDependency() throws Exception {
		ClassLoader loader = new WithoutLibrary("com.github.luben.");
		Class<?>[] configurations = new Class<?>[] { loader.loadClass(LanceMemoryAutoConfiguration.class.getName()),
				loader.loadClass(LanceExecutorAutoConfiguration.class.getName()),
				loader.loadClass(LanceSpillAutoConfiguration.class.getName()) };
		ApplicationContextRunner without = new ApplicationContextRunner().withClassLoader(loader)
			.withUserConfiguration(configurations);
		without.run((context) -> assertThat(context).hasNotFailed());
		without.withPropertyValues("lance.spill.compression.codec=zstd")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(InvalidConfigurationPropertyValueException.class, (failure) -> {
					assertThat(failure.getName()).isEqualTo("lance.spill.compression.codec");
					assertThat(failure.getReason()).contains("'com.github.luben:zstd-jni'");
				}));
	}

	@Test
	void whenTheDirectoryCannotBeMadeThenTheStartAndSpillsInMemoryWorkAndDiskWorksOnceRepaired() throws IOException {
		Path file = Files.createFile(this.folder.resolve("file"));
		this.runner
			.withPropertyValues("lance.spill.directories=" + file.resolve("base"), "lance.spill.memory-limit=10KB")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				try (ReplaySpill small = spill(context, 1)) {
					assertThat(rows(small)).isEqualTo(1000);
				}
				assertThatExceptionOfType(SpillException.class).isThrownBy(() -> unwrap(() -> spill(context, 2)));
				Files.delete(file);
				try (ReplaySpill large = spill(context, 2)) {
					assertThat(rows(large)).isEqualTo(2000);
					assertThat(files(file.resolve("base"))).hasSize(1);
				}
			});
	}

	@Test
	void whenThereIsNoTemporaryDirectoryThenTheStartAndSpillsInMemoryWorkAndDiskWorksOnceRepaired() {
		Path missing = this.folder.resolve("missing");
		this.runner.withSystemProperties("java.io.tmpdir=" + missing)
			.withPropertyValues("lance.spill.memory-limit=10KB")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				try (ReplaySpill small = spill(context, 1)) {
					assertThat(rows(small)).isEqualTo(1000);
				}
				assertThatExceptionOfType(SpillException.class).isThrownBy(() -> unwrap(() -> spill(context, 2)));
				Files.createDirectory(missing);
				try (ReplaySpill large = spill(context, 2)) {
					assertThat(rows(large)).isEqualTo(2000);
					assertThat(files(missing)).hasSize(1);
				}
			});
	}

	@Test
	void whenADiskLimitIsSetThenFilesStayBelowItUntilTheBeanIsTold() {
		directory().withPropertyValues("lance.spill.memory-limit=0", "lance.spill.disk-limit=10KB").run((context) -> {
			SpillManager manager = context.getBean(SpillManager.class);
			assertThat(manager.statistics().diskLimit()).isEqualTo(10 * 1024);
			ReplaySpill one = spill(context, 1);
			one.close();
			EngineExtension.await(one.closed());
			assertThatExceptionOfType(SpillQuotaExceededException.class)
				.isThrownBy(() -> unwrap(() -> spill(context, 2)));
			manager.setDiskLimit(1_000_000);
			spill(context, 2).close();
		});
	}

	@Test
	void whenADiskLimitIsSetInGigabytesThenItIsUsed() {
		this.runner.withPropertyValues("lance.spill.disk-limit=2GB")
			.run((context) -> assertThat(context.getBean(SpillManager.class).statistics().diskLimit())
				.isEqualTo(2L * 1024 * 1024 * 1024));
	}

	@Test
	void whenSpillsMayHoldMoreThanTheAllocatorGivesThenTheLogSaysSo(CapturedOutput output) {
		this.runner.withPropertyValues("lance.memory.limit=100MB")
			.run((context) -> assertThat(output).contains("lance.spill.total-memory-limit", "lance.memory.limit"));
	}

	@Test
	void whenThereIsMoreThanOneDirectoryThenFilesGoToEach() {
		List<ReplaySpill> kept = new ArrayList<>();
		Path one = this.folder.resolve("one");
		Path other = this.folder.resolve("other");
		this.runner.withPropertyValues("lance.spill.directories=" + one + "," + other, "lance.spill.memory-limit=0")
			.run((context) -> {
				kept.add(spill(context, 1));
				kept.add(spill(context, 1));
				assertThat(files(one)).hasSize(1);
				assertThat(files(other)).hasSize(1);
			});
		assertThat(one).isEmptyDirectory();
		assertThat(other).isEmptyDirectory();
	}

	@Test
	void whenADirectoryFailedThenItIsTriedAgainAfterTheTimeThatIsSet() throws IOException {
		List<ReplaySpill> kept = new ArrayList<>();
		Path file = Files.createFile(this.folder.resolve("file"));
		Path other = this.folder.resolve("other");
		ApplicationContextRunner both = this.runner.withPropertyValues("lance.spill.memory-limit=0",
				"lance.spill.directories=" + file + "," + other);
		both.withPropertyValues("lance.spill.directory-retry=1h").run((context) -> {
			kept.add(spill(context, 1));
			kept.add(spill(context, 1));
			Files.delete(file);
			kept.add(spill(context, 1));
			kept.add(spill(context, 1));
			assertThat(files(file)).isEmpty();
			assertThat(files(other)).hasSize(4);
		});
		Files.createFile(file);
		both.withPropertyValues("lance.spill.directory-retry=0s").run((context) -> {
			kept.add(spill(context, 1));
			kept.add(spill(context, 1));
			Files.delete(file);
			kept.add(spill(context, 1));
			kept.add(spill(context, 1));
			assertThat(files(file)).hasSize(1);
			assertThat(files(other)).hasSize(3);
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "lance.spill.min-free-space=1000000TB", "lance.spill.min-free-percent=99" })
	void whenMoreMustStayFreeThanIsFreeThenSpillsAreRefused(String property) throws IOException {
		FileStore disk = Files.getFileStore(this.folder);
		assumeThat(disk.getUsableSpace()).as("free space of the disk").isLessThan(disk.getTotalSpace() / 100 * 99);
		directory().withPropertyValues("lance.spill.memory-limit=0", property)
			.run((context) -> assertThatExceptionOfType(SpillDiskFullException.class)
				.isThrownBy(() -> unwrap(() -> spill(context, 1)))
				.withMessageContaining("lance.spill.min-free-space")
				.withMessageContaining("lance.spill.min-free-percent"));
	}

	@Test
	void whenOneSpillMayHoldMoreThanAllThenTheLogSaysSo(CapturedOutput output) {
		this.runner.withPropertyValues("lance.spill.memory-limit=2MB", "lance.spill.total-memory-limit=1MB")
			.run((context) -> assertThat(output).contains("lance.spill.total-memory-limit",
					"'lance.spill.memory-limit' of 2097152 bytes is never reached"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "file", "file/base" })
	void whenTheDirectoryCannotBeUsedThenTheLogSaysSoButTheStartDoesNotWaitForTheDisk(String path,
			CapturedOutput output) throws IOException {
		Path file = Files.createFile(this.folder.resolve("file"));
		Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
		this.runner.withBean("lanceSpillExecutor", Executor.class, () -> tasks::add)
			.withPropertyValues("lance.spill.directories=" + this.folder.resolve(path))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).doesNotContain("can't be used");
				while (!tasks.isEmpty()) {
					tasks.remove().run();
				}
				assertThat(output).contains("can't be used: " + file, "lance.spill.directories");
				context.getBean(SpillManager.class).close();
				tasks.forEach(Runnable::run);
			});
	}

	@Test
	void whenTheDirectoryIsMadeOnFirstUseThenNothingIsLoggedAndNothingIsMade(CapturedOutput output) {
		Path missing = this.folder.resolve("a").resolve("b");
		this.runner.withPropertyValues("lance.spill.directories=" + missing, "lance.spill.threads=1").run((context) -> {
			EngineExtension.await(context.getBean(SpillManager.class).reclaimed());
			EngineExtension.await(CompletableFuture.runAsync(() -> {
			}, context.getBean("lanceSpillExecutor", Executor.class)));
			assertThat(output).doesNotContain("can't be used");
			assertThat(this.folder).isEmptyDirectory();
		});
	}

	@Test
	void whenLimitsFitThenNothingIsLogged(CapturedOutput output) {
		this.runner.run((context) -> assertThat(output).doesNotContain("lance.spill.total-memory-limit"));
	}

	@Test
	void theManagerIsClosedBeforeBothExecutors() {
		this.runner.run((context) -> assertThat(context.getBeanFactory().getDependenciesForBean("spillManager"))
			.contains("lanceBackgroundExecutor", "lanceSpillExecutor", "lanceAllocator"));
	}

	@Test
	void whenTheStartFailsThenNothingIsLeft() {
		directory().withPropertyValues("lance.spill.memory-limit=0")
			.withUserConfiguration(FailingStart.class)
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessage("Failed with a spill open"));
		assertThat(this.folder).isEmptyDirectory();
	}

	@Test
	void whenTheUserHasASpillManagerThenOursBacksOff() {
		this.runner
			.withBean("mine", SpillManager.class,
					() -> SpillManager.builder(new RootAllocator(), Executors.newSingleThreadExecutor())
						.directory(() -> this.folder)
						.build())
			.run((context) -> assertThat(context).hasSingleBean(SpillManager.class).hasBean("mine"));
	}

	@ParameterizedTest
	@ValueSource(classes = { BufferAllocator.class, VectorSchemaRoot.class })
	void whenArrowIsMissingThenNothingIsConfigured(Class<?> missing) {
		this.runner.withClassLoader(new FilteredClassLoader(missing))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("spillManager"));
	}

	private ApplicationContextRunner directory() {
		return this.runner.withPropertyValues("lance.spill.directories=" + this.folder);
	}

	/**
	 * Writes a finished spill; a batch has about 8,000 bytes.
	 */
	private static ReplaySpill spill(ApplicationContext context, int batches) throws Exception {
		ReplaySpill spill = context.getBean(SpillManager.class).createReplaySpill(Numbers.SCHEMA);
		try (SpillSender sender = spill.sender()) {
			for (int i = 0; i < batches; i++) {
				try (RecordBatch batch = Numbers.batch(context.getBean(BufferAllocator.class))) {
					EngineExtension.await(sender.write(batch));
				}
			}
			EngineExtension.await(sender.finish());
			return spill;
		}
		catch (Exception ex) {
			spill.close();
			throw ex;
		}
	}

	private static long rows(ReplaySpill spill) throws Exception {
		List<RecordBatch> batches = EngineExtension.await(spill.receiver().read().collect());
		batches.forEach(RecordBatch::close);
		return batches.stream().mapToLong(RecordBatch::rowCount).sum();
	}

	private void flipTheLastBitOfTheFirstBody(ReplaySpill spill) throws IOException {
		Path file = files(this.folder).get(0);
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			java.nio.ByteBuffer one = java.nio.ByteBuffer.allocate(1);
			// The end marker has 8 bytes, and the padding before it less than 64.
			long position = spill.snapshot().diskBytes() - 8 - 64 - 1;
			channel.read(one, position);
			one.put(0, (byte) (one.get(0) ^ 1)).rewind();
			channel.write(one, position);
		}
	}

	private static List<Path> files(Path base) {
		if (!Files.exists(base)) {
			return List.of();
		}
		try (Stream<Path> files = Files.walk(base)) {
			return files.filter(Files::isRegularFile).filter((file) -> file.toString().endsWith(".arrows")).toList();
		}
		catch (IOException ex) {
			throw new java.io.UncheckedIOException(ex);
		}
	}

	private static void unwrap(Action action) throws Throwable {
		try {
			action.run();
		}
		catch (java.util.concurrent.ExecutionException ex) {
			throw ex.getCause();
		}
	}

	/**
	 * A bean that spills and then fails.
	 */
	static class FailingStart {

		FailingStart(ApplicationContext context) throws Exception {
			spill(context, 2);
			throw new IllegalStateException("Failed with a spill open");
		}

	}

	/**
	 * What may fail.
	 */
	private interface Action {

		void run() throws Exception;

	}

}
