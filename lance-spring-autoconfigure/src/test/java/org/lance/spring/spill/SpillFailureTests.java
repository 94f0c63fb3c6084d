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

package org.lance.spring.spill;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each kind of failure has a type of its own, and says which spill, how much, which limit
 * and what to change.
 */
class SpillFailureTests {

	private static final long DISK_LIMIT = 100_000;

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@TempDir
	Path directory;

	private final FaultyFileSystem fileSystem = new FaultyFileSystem();

	@Test
	void eachFailureHasItsTypeAndSaysWhatToChange() throws Exception {
		SpillManager manager = SpillManager.builder(this.engine.allocator(), this.engine.pool(1))
			.directories(List.of(this.directory))
			.diskLimit(DISK_LIMIT)
			.minFreeSpace(0)
			.minFreePercent(0)
			.build(this.fileSystem);
		this.engine.closeLater(() -> {
			manager.close();
			EngineExtension.await(manager.closed());
		});
		Throwable quota = refusedWrite(manager, "quota", 20_000, "lance.spill.disk-limit");
		assertThat(quota).isInstanceOf(SpillQuotaExceededException.class)
			.hasMessageContaining("of %d".formatted(DISK_LIMIT));

		this.fileSystem.room(2_000);
		Throwable full = refusedWrite(manager, "full", 1_000, "lance.spill.directories");
		assertThat(full).isInstanceOf(SpillDiskFullException.class)
			.hasRootCauseInstanceOf(IOException.class)
			.hasRootCauseMessage("No space left on device");
		this.fileSystem.repair();

		ReplaySpill damaged = finished(manager, "damaged");
		Path file = file("damaged");
		byte[] bytes = Files.readAllBytes(file);
		bytes[bytes.length - 20] ^= 1;
		Files.write(file, bytes);
		Throwable corrupted = SpillHarness.failure(damaged.receiver().read().next());
		assertThat(corrupted).isInstanceOf(SpillCorruptedException.class);
		damaged.close();

		ReplaySpill removed = finished(manager, "removed");
		Files.delete(file("removed"));
		Throwable gone = SpillHarness.failure(removed.receiver().read().next());
		assertThat(gone).isInstanceOf(SpillGoneException.class).hasRootCauseInstanceOf(NoSuchFileException.class);

		assertThat(List.of(corrupted, gone)).allSatisfy((failure) -> assertThat(failure).hasMessageContaining("Spill '")
			.hasMessageContaining(this.directory.toString())
			.hasMessageContaining("lance.spill.directories"));
		assertThat(List.of(quota, full, corrupted, gone)).extracting(Object::getClass).doesNotHaveDuplicates();
		assertThat(manager.statistics().failures()).containsEntry("quota-exceeded", 1L)
			.containsEntry("disk-full", 1L)
			.containsEntry("corrupted", 1L)
			.containsEntry("gone", 1L)
			.containsEntry("io", 0L);
	}

	/**
	 * Writes a batch that is refused.
	 * @return the failure, which everybody else gets as well
	 */
	private Throwable refusedWrite(SpillManager manager, String name, int rows, String property) throws Exception {
		try (ReplaySpill spill = manager.createReplaySpill(Batches.SCHEMA, Place.DISK.options().withName(name));
				RecordBatch batch = new Batches(this.engine.allocator()).rows(rows, 1)) {
			SpillSender sender = spill.sender();
			Throwable failure = SpillHarness.failure(sender.write(batch));
			assertThat(failure).hasMessageContaining("Spill '" + spill.name() + "'")
				.hasMessageContaining(property)
				.message()
				.as("bytes that were to follow")
				.containsPattern("and %d?\\d{4,} more don't fit".formatted(rows * 8 / 1000));
			for (Throwable later : List.of(SpillHarness.failure(sender.finish()),
					SpillHarness.failure(spill.receiver().read().next()))) {
				assertThat(later).hasSameClassAs(failure).hasMessageContaining(property);
				assertThat(later.getCause()).isSameAs(failure.getCause());
			}
			return failure;
		}
	}

	private ReplaySpill finished(SpillManager manager, String name) throws Exception {
		ReplaySpill spill = manager.createReplaySpill(Batches.SCHEMA, Place.DISK.options().withName(name));
		SpillSender sender = spill.sender();
		try (RecordBatch batch = new Batches(this.engine.allocator()).rows(100, 1)) {
			EngineExtension.await(sender.write(batch));
		}
		EngineExtension.await(sender.finish());
		return spill;
	}

	private Path file(String name) throws IOException {
		try (Stream<Path> files = Files.walk(this.directory)) {
			return files.filter((path) -> path.getFileName().toString().contains("-" + name)).findFirst().orElseThrow();
		}
	}

}
