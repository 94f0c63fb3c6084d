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
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.spill.FaultyFileSystem.Operation;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests that files never take more than their limit, and that what they took is given
 * back however they end.
 */
class DiskQuotaTests {

	private static final int ROWS = 1000;

	@RegisterExtension
	@Order(2)
	final EngineExtension engine = new EngineExtension();

	/**
	 * Looks after the engine has closed what is open.
	 */
	@RegisterExtension
	@Order(1)
	final OpenFiles openFiles = new OpenFiles();

	@TempDir
	Path base;

	private final FaultyFileSystem fileSystem = new FaultyFileSystem();

	/**
	 * Spills and senders: those that nobody can reach any more are closed.
	 */
	private final List<Object> kept = new ArrayList<>();

	private SpillHarness harness(long limit) {
		return harness(limit, ReadMode.MAP);
	}

	private SpillHarness harness(long limit, ReadMode readMode) {
		SpillDirectories directories = SpillDirectories.of(this.fileSystem, List.of(() -> this.base), SpaceFloor.NONE,
				InstantSource.system(), Duration.ZERO);
		return new SpillHarness(this.engine, new FileSpillStore(directories, new ByteBudget(limit),
				this.engine.allocator(), readMode, SpareThreads.NONE, this.fileSystem, TestFiles.windows(1024)), 2);
	}

	private static CompletionStage<Void> begin(SpillHarness harness, SpillSender sender, int rows, long value) {
		try (RecordBatch batch = harness.batches.rows(rows, value)) {
			return sender.write(batch);
		}
	}

	private SpillSender kept(SpillSender sender) {
		this.kept.add(sender);
		return sender;
	}

	private ReplaySpill spill(SpillHarness harness, Place place) {
		ReplaySpill spill = harness.spill(place);
		this.kept.add(spill);
		return spill;
	}

	private ReplaySpill written(SpillHarness harness, int batches) throws Exception {
		ReplaySpill spill = spill(harness, Place.DISK);
		SpillSender sender = kept(spill.sender());
		for (int i = 0; i < batches; i++) {
			EngineExtension.await(begin(harness, sender, ROWS, i));
		}
		EngineExtension.await(sender.finish());
		return spill;
	}

	private static void close(ReplaySpill spill) throws Exception {
		spill.close();
		EngineExtension.await(spill.closed());
	}

	private static long used(SpillHarness harness) {
		return harness.manager.statistics().diskUsed();
	}

	private List<Path> files() throws IOException {
		try (Stream<Path> paths = Files.walk(this.base)) {
			return paths.filter((path) -> path.toString().endsWith(".arrows")).toList();
		}
	}

	@Test
	void whenASpillExceedsTheLimitThenWhatItTookIsThereForTheNext() throws Exception {
		SpillHarness harness = harness(1_000_000);
		ReplaySpill first = spill(harness, Place.DISK);
		SpillSender sender = kept(first.sender());
		EngineExtension.await(begin(harness, sender, 50_000, 1));
		long before = used(harness);
		assertThat(before).isBetween(400_000L, 410_000L);
		ReplaySpill second = spill(harness, Place.DISK);
		Throwable failure = SpillHarness.failure(begin(harness, kept(second.sender()), 87_500, 2));
		assertThat(failure).isInstanceOf(SpillQuotaExceededException.class)
			.hasMessageContaining(second.name())
			.hasMessageContaining("of 1000000")
			.hasMessageContaining("lance.spill.disk-limit");
		assertThat(((SpillException) failure).getSpillName()).isEqualTo(second.name());
		assertThat(SpillHarness.failure(second.receiver().read().next()))
			.isInstanceOf(SpillQuotaExceededException.class);
		EngineExtension.await(second.closed());
		assertThat(used(harness)).as("the failed spill has given back its share").isEqualTo(before);
		EngineExtension.await(sender.finish());
		assertThat(harness.read(first.receiver())).hasSize(50_000);
		close(first);
		assertThat(used(harness)).isZero();
		ReplaySpill third = spill(harness, Place.DISK);
		EngineExtension.await(begin(harness, kept(third.sender()), 112_500, 3));
		assertThat(used(harness)).isGreaterThan(900_000);
		assertThat(harness.manager.statistics().failures()).containsEntry("quota-exceeded", 1L);
	}

	@Test
	void whatIsUsedIsWhatIsOnDisk() throws Exception {
		SpillHarness harness = harness(1_000_000);
		ReplaySpill first = written(harness, 3);
		ReplaySpill second = spill(harness, Place.SWITCHING);
		SpillSender sender = kept(second.sender());
		for (int i = 0; i < 3; i++) {
			EngineExtension.await(begin(harness, sender, 100, i));
		}
		long onDisk = 0;
		for (Path file : files()) {
			onDisk += Files.size(file);
		}
		assertThat(files()).hasSize(2);
		assertThat(used(harness)).isEqualTo(onDisk);
		close(first);
		assertThat(used(harness)).isEqualTo(second.snapshot().diskBytes());
	}

	@Test
	void nothingOfARefusedBatchIsWritten() throws Exception {
		SpillHarness harness = harness(20_000);
		ReplaySpill spill = spill(harness, Place.DISK);
		SpillSender sender = kept(spill.sender());
		EngineExtension.await(begin(harness, sender, ROWS, 1));
		RecordBatchStream reader = spill.receiver().read();
		assertThat(harness.next(reader)).hasSize(ROWS);
		int writes = this.fileSystem.count(Operation.WRITE);
		assertThat(SpillHarness.failure(begin(harness, sender, 2 * ROWS, 2)))
			.isInstanceOf(SpillQuotaExceededException.class);
		assertThat(this.fileSystem.count(Operation.WRITE)).isEqualTo(writes);
		assertThat(SpillHarness.failure(begin(harness, sender, 1, 3))).isInstanceOf(SpillQuotaExceededException.class)
			.hasMessageContaining("already failed");
		assertThat(SpillHarness.failure(reader.next())).isInstanceOf(SpillQuotaExceededException.class);
	}

	@Test
	void everyByteOfAFileIsReserved() throws Exception {
		SpillHarness unlimited = harness(ByteBudget.UNLIMITED);
		ReplaySpill whole = written(unlimited, 2);
		long size = whole.snapshot().diskBytes();
		long batch = (size - 8) / 2;
		close(whole);
		for (long limit : new long[] { 1, 8, batch, size - 9, size - 8, size - 7, size - 1 }) {
			SpillHarness harness = harness(limit);
			ReplaySpill spill = spill(harness, Place.DISK);
			SpillSender sender = kept(spill.sender());
			List<Throwable> failures = new ArrayList<>();
			for (int i = 0; i < 2; i++) {
				failures.add(EngineExtension.await(begin(harness, sender, ROWS, i).handle((value, ex) -> ex)));
			}
			failures.add(EngineExtension.await(sender.finish().handle((value, ex) -> ex)));
			assertThat(failures.get(2)).as("limit %d", limit).isInstanceOf(SpillQuotaExceededException.class);
			EngineExtension.await(spill.closed());
			assertThat(used(harness)).as("limit %d", limit).isZero();
		}
		SpillHarness harness = harness(size);
		assertThat(harness.read(written(harness, 2).receiver())).hasSize(2 * ROWS);
	}

	@Test
	void theLimitCanBeChangedWhileFilesAreThere() throws Exception {
		SpillHarness harness = harness(ByteBudget.UNLIMITED);
		assertThat(harness.manager.statistics().diskLimit()).isEqualTo(Long.MAX_VALUE);
		ReplaySpill first = written(harness, 3);
		harness.manager.setDiskLimit(20_000);
		assertThat(harness.manager.statistics().diskLimit()).isEqualTo(20_000);
		assertThat(used(harness)).isGreaterThan(20_000);
		assertThat(harness.read(first.receiver())).hasSize(3 * ROWS);
		ReplaySpill second = spill(harness, Place.DISK);
		assertThat(SpillHarness.failure(begin(harness, kept(second.sender()), 1, 1)))
			.isInstanceOf(SpillQuotaExceededException.class);
		harness.manager.setDiskLimit(100_000);
		ReplaySpill third = written(harness, 3);
		assertThat(harness.read(third.receiver())).hasSize(3 * ROWS);
		assertThatIllegalArgumentException().isThrownBy(() -> harness.manager.setDiskLimit(0));
	}

	@Test
	void whenAWriteFailsAtAnyPointThenEverythingIsGivenBack() throws Exception {
		SpillHarness harness = harness(1_000_000);
		for (int write = 0; write < 5; write++) {
			this.fileSystem.fail(Operation.WRITE, write, "Input/output error");
			ReplaySpill spill = spill(harness, Place.DISK);
			SpillSender sender = kept(spill.sender());
			CompletionStage<Void> last = begin(harness, sender, ROWS, 0);
			for (int i = 1; i < 3; i++) {
				EngineExtension.await(last.handle((value, ex) -> ex));
				last = begin(harness, sender, ROWS, i);
			}
			EngineExtension.await(last.handle((value, ex) -> ex));
			assertThat(SpillHarness.failure(sender.finish())).isInstanceOf(SpillIoException.class);
			EngineExtension.await(spill.closed());
			assertThat(used(harness)).as("write %d", write).isZero();
		}
	}

	@Test
	void whenAFileCannotBeMadeThenNothingIsTaken() throws Exception {
		SpillHarness harness = harness(1_000_000);
		for (Operation operation : List.of(Operation.CREATE_DIRECTORY, Operation.CREATE, Operation.LOCK)) {
			this.fileSystem.fail(operation, 0, "Input/output error");
			ReplaySpill spill = spill(harness, Place.DISK);
			assertThat(SpillHarness.failure(begin(harness, kept(spill.sender()), ROWS, 0)))
				.isInstanceOf(SpillIoException.class);
			assertThat(used(harness)).isZero();
			this.fileSystem.repair();
		}
	}

	@Test
	void whenTheFileIsCutOrGoneThenEverythingIsGivenBack() throws Exception {
		SpillHarness harness = harness(1_000_000);
		ReplaySpill cut = written(harness, 3);
		harness.read(cut.receiver());
		try (FileChannel channel = FileChannel.open(files().get(0), StandardOpenOption.WRITE)) {
			channel.truncate(100);
		}
		assertThat(SpillHarness.failure(cut.receiver().read().collect())).isInstanceOf(SpillCorruptedException.class);
		close(cut);
		assertThat(used(harness)).isZero();
		ReplaySpill gone = written(harness, 3);
		Files.delete(files().get(0));
		assertThat(SpillHarness.failure(gone.receiver().read().collect())).isInstanceOf(SpillGoneException.class);
		close(gone);
		assertThat(used(harness)).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void aFileTakesSpaceUntilItsLastMappingIsGone(ReadMode readMode) throws Exception {
		SpillHarness harness = harness(1_000_000, readMode);
		ReplaySpill spill = written(harness, 3);
		long size = spill.snapshot().diskBytes();
		List<RecordBatch> held = EngineExtension.await(spill.receiver().read().collect());
		close(spill);
		assertThat(files()).isEmpty();
		for (RecordBatch batch : held) {
			assertThat(used(harness)).isEqualTo((readMode == ReadMode.MAP) ? size : 0);
			batch.close();
		}
		assertThat(used(harness)).isZero();
	}

	@Test
	void whenTheManagerIsClosedThenOnlyWhatReadersHoldIsTaken() throws Exception {
		SpillHarness harness = harness(1_000_000);
		ReplaySpill held = written(harness, 3);
		written(harness, 3);
		SpillSender unfinished = kept(spill(harness, Place.DISK).sender());
		EngineExtension.await(begin(harness, unfinished, ROWS, 1));
		long size = held.snapshot().diskBytes();
		RecordBatch batch = EngineExtension.await(held.receiver().read().next()).orElseThrow();
		harness.manager.close();
		EngineExtension.await(harness.manager.closed());
		assertThat(this.base).isEmptyDirectory();
		assertThat(used(harness)).isEqualTo(size);
		assertThat(harness.batches.take(batch)).hasSize(ROWS);
		assertThat(used(harness)).isZero();
	}

	@Test
	void aFileThatCannotBeDeletedTakesSpaceUntilItIs() throws Exception {
		SpillHarness harness = harness(1_000_000);
		ReplaySpill stuck = written(harness, 3);
		long size = stuck.snapshot().diskBytes();
		this.fileSystem.fail(Operation.DELETE, 0, 2, "Device or resource busy");
		close(stuck);
		assertThat(files()).hasSize(1);
		assertThat(used(harness)).isEqualTo(size);
		ReplaySpill second = written(harness, 1);
		assertThat(files()).hasSize(2);
		assertThat(used(harness)).isEqualTo(size + second.snapshot().diskBytes());
		ReplaySpill third = written(harness, 1);
		assertThat(files()).hasSize(2);
		assertThat(used(harness)).isEqualTo(second.snapshot().diskBytes() + third.snapshot().diskBytes());
		this.fileSystem.fail(Operation.DELETE, 0, 2, "Device or resource busy");
		close(second);
		close(third);
		assertThat(used(harness)).isPositive();
		harness.manager.close();
		EngineExtension.await(harness.manager.closed());
		assertThat(used(harness)).isZero();
		assertThat(this.base).isEmptyDirectory();
	}

	@Test
	void whenTheDirectoryIsRemovedAtTheEndThenSoIsTheSpaceOfWhatWasInIt() throws Exception {
		SpillHarness harness = harness(1_000_000);
		ReplaySpill stuck = written(harness, 3);
		// Once when it is closed, once when the manager tries again.
		this.fileSystem.fail(Operation.DELETE, 0, 2, "Device or resource busy");
		close(stuck);
		assertThat(used(harness)).isPositive();
		harness.manager.close();
		EngineExtension.await(harness.manager.closed());
		assertThat(used(harness)).isZero();
		assertThat(this.base).isEmptyDirectory();
	}

	@Test
	void spillsThatAreWrittenAtOnceNeverTakeMoreThanTheLimit() throws Exception {
		long limit = 100_000;
		SpillHarness harness = harness(limit);
		for (int round = 0; round < 20; round++) {
			List<ReplaySpill> spills = new ArrayList<>();
			List<CompletionStage<Void>> writes = new ArrayList<>();
			for (int i = 0; i < 16; i++) {
				ReplaySpill spill = spill(harness, Place.DISK);
				spills.add(spill);
				writes.add(begin(harness, kept(spill.sender()), ROWS, i));
			}
			int refused = 0;
			for (CompletionStage<Void> write : writes) {
				Throwable failure = EngineExtension.await(write.handle((value, ex) -> ex));
				assertThat(used(harness)).isLessThanOrEqualTo(limit);
				if (failure != null) {
					assertThat(failure).isInstanceOf(SpillQuotaExceededException.class);
					refused++;
				}
			}
			assertThat(refused).isBetween(1, 15);
			for (ReplaySpill spill : spills) {
				close(spill);
			}
			assertThat(used(harness)).isZero();
		}
	}

}
