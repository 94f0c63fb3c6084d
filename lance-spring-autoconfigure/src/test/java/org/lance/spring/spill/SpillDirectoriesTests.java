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
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.spill.FaultyFileSystem.Operation;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests to which of several directories files go, and what is said of bad ones.
 */
@ExtendWith(OutputCaptureExtension.class)
class SpillDirectoriesTests {

	private static final Duration RETRY = Duration.ofMinutes(1);

	@RegisterExtension
	@Order(2)
	final EngineExtension engine = new EngineExtension();

	@RegisterExtension
	@Order(1)
	final OpenFiles openFiles = new OpenFiles();

	@TempDir
	Path base;

	private final FaultyFileSystem fileSystem = new FaultyFileSystem();

	private Instant now = Instant.EPOCH;

	private SpillHarness harness;

	private Path directory(String name) {
		return this.base.resolve(name);
	}

	private SpillHarness use(String... names) {
		return use(ByteBudget.UNLIMITED, SpaceFloor.NONE, names);
	}

	private SpillHarness use(long limit, SpaceFloor floor, String... names) {
		SpillDirectories directories = SpillDirectories.of(this.fileSystem,
				Stream.of(names).<java.util.function.Supplier<Path>>map((name) -> () -> directory(name)).toList(),
				floor, () -> this.now, RETRY);
		this.harness = new SpillHarness(this.engine, new FileSpillStore(directories, new ByteBudget(limit),
				this.engine.allocator(), ReadMode.MAP, SpareThreads.NONE, this.fileSystem, TestFiles.windows(1 << 20)),
				1);
		return this.harness;
	}

	private ReplaySpill spill() {
		return this.harness.keep(this.harness.spill(Place.DISK));
	}

	private CompletionStage<Void> begin(SpillSender sender, int rows) {
		return this.harness.beginRows(this.harness.keep(sender), rows, 1);
	}

	private ReplaySpill written() throws Exception {
		ReplaySpill spill = spill();
		SpillSender sender = spill.sender();
		EngineExtension.await(begin(sender, 10));
		EngineExtension.await(sender.finish());
		return spill;
	}

	private void write(int spills) throws Exception {
		for (int i = 0; i < spills; i++) {
			assertThat(this.harness.read(written().receiver())).hasSize(10);
		}
	}

	private int files(String name) throws IOException {
		Path directory = directory(name);
		if (!Files.isDirectory(directory)) {
			return 0;
		}
		try (Stream<Path> paths = Files.walk(directory)) {
			return (int) paths.filter((path) -> path.toString().endsWith(OwnedDirectory.FILE_SUFFIX)).count();
		}
	}

	private static void deleteRecursively(Path directory) throws IOException {
		try (Stream<Path> paths = Files.walk(directory)) {
			for (Path path : paths.sorted(java.util.Comparator.reverseOrder()).toList()) {
				Files.delete(path);
			}
		}
	}

	private void end() throws Exception {
		this.harness.manager.close();
		EngineExtension.await(this.harness.manager.closed());
	}

	@Test
	void filesGoToOneDirectoryAfterTheOther() throws Exception {
		use("a", "b", "c");
		write(1);
		assertThat(files("a") + files("b") + files("c")).isOne();
		write(8);
		assertThat(files("a")).isEqualTo(3);
		assertThat(files("b")).isEqualTo(3);
		assertThat(files("c")).isEqualTo(3);
		end();
		for (String name : List.of("a", "b", "c")) {
			assertThat(directory(name)).isEmptyDirectory();
			assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory(name))))
				.isEqualTo("rwx------");
		}
	}

	@Test
	void whenOneOfTwoIsBadThenTheOtherIsUsedAndTheyMayChangeRoles(CapturedOutput output) throws Exception {
		use("bad", "good");
		this.fileSystem.failIn(directory("bad"), "Input/output error");
		write(8);
		this.now = this.now.plus(RETRY);
		write(2);
		assertThat(files("good")).isEqualTo(10);
		assertThat(output).containsOnlyOnce("Spills avoid the directory " + directory("bad"));
		this.fileSystem.repair();
		this.fileSystem.failIn(directory("good"), "Read-only file system");
		write(4);
		assertThat(files("good")).isEqualTo(10);
		assertThat(files("bad")).isEqualTo(4);
		assertThat(output).containsOnlyOnce("The spill directory " + directory("bad") + " can be used again");
		this.fileSystem.repair();
		this.now = this.now.plus(RETRY);
		write(4);
		assertThat(files("good")).isEqualTo(12);
		assertThat(files("bad")).isEqualTo(6);
	}

	@Test
	void aDirectoryThatFailedIsLeftAloneForAWhile() throws Exception {
		use("a", "b");
		this.fileSystem.failIn(directory("a"), "Input/output error");
		write(2);
		this.fileSystem.repair();
		int tried = this.fileSystem.count(Operation.CREATE_DIRECTORY);
		this.now = this.now.plus(RETRY).minusMillis(1);
		write(4);
		assertThat(files("a")).isZero();
		assertThat(this.fileSystem.count(Operation.CREATE_DIRECTORY)).isEqualTo(tried);
		this.now = this.now.plusMillis(1);
		write(4);
		assertThat(files("a")).isEqualTo(2);
		assertThat(files("b")).isEqualTo(8);
	}

	@Test
	void whenTheClockIsSetBackThenADirectoryIsNotLeftAloneForLonger() throws Exception {
		use("a", "b");
		this.fileSystem.failIn(directory("a"), "Input/output error");
		write(2);
		this.fileSystem.repair();
		this.now = this.now.minusSeconds(1000);
		write(2);
		assertThat(files("a")).isOne();
	}

	@Test
	void whenAWriteFailsThenNewFilesGoElsewhereAtOnce() throws Exception {
		use("a", "b");
		ReplaySpill first = spill();
		SpillSender sender = first.sender();
		EngineExtension.await(begin(sender, 10));
		String bad = (files("a") == 1) ? "a" : "b";
		this.fileSystem.failIn(directory(bad), "Input/output error");
		assertThat(SpillHarness.failure(begin(sender, 10))).isInstanceOf(SpillIoException.class)
			.hasMessageContaining("Input/output error");
		EngineExtension.await(first.closed());
		this.fileSystem.repair();
		write(4);
		assertThat(files(bad)).isZero();
	}

	@Test
	void whenTheQuotaIsExceededThenTheDirectoryIsNotToBlame() throws Exception {
		use(10_000, SpaceFloor.NONE, "a", "b");
		for (int i = 0; i < 2; i++) {
			ReplaySpill refused = spill();
			SpillSender sender = refused.sender();
			EngineExtension.await(begin(sender, 10));
			assertThat(SpillHarness.failure(begin(sender, 2000))).isInstanceOf(SpillQuotaExceededException.class);
			EngineExtension.await(refused.closed());
		}
		write(4);
		assertThat(files("a")).isEqualTo(2);
		this.harness.manager.setDiskLimit(1);
		int created = this.fileSystem.count(Operation.CREATE);
		assertThat(SpillHarness.failure(begin(spill().sender(), 10))).isInstanceOf(SpillQuotaExceededException.class);
		assertThat(this.fileSystem.count(Operation.CREATE) - created).as("no other directory helps").isOne();
	}

	@Test
	void aDirectoryWithTooLittleSpaceIsPassedOverAsLongAsItHas(CapturedOutput output) throws Exception {
		use(ByteBudget.UNLIMITED, new SpaceFloor(1000, 0), "a", "b");
		this.fileSystem.volume(directory("a"), 999, 10_000, "ext4");
		write(4);
		assertThat(files("b")).isEqualTo(4);
		String logged = "Spills pass over the directory " + directory("a") + " as long as it is so: 999 bytes are free";
		assertThat(output).containsOnlyOnce(logged);
		this.fileSystem.repair();
		write(4);
		assertThat(files("a")).isEqualTo(2);
		this.fileSystem.volume(directory("a"), 999, 10_000, "ext4");
		this.fileSystem.volume(directory("b"), 998, 10_000, "ext4");
		this.now = this.now.plusSeconds(1);
		assertThat(SpillHarness.failure(begin(spill().sender(), 10))).isInstanceOf(SpillDiskFullException.class)
			.hasMessageContaining(directory("a") + " (999 bytes are free")
			.hasMessageContaining(directory("b") + " (998 bytes are free");
		assertThat(output.toString().split(java.util.regex.Pattern.quote(logged), -1)).as("said again").hasSize(3);
	}

	@Test
	void theFailureNamesTheDirectoryIfThereIsOne() throws Exception {
		use("a");
		this.fileSystem.failIn(directory("a"), "Read-only file system");
		assertThat(SpillHarness.failure(begin(spill().sender(), 10))).isInstanceOf(SpillIoException.class)
			.hasMessageContaining(
					"no file can be created in the directory " + directory("a") + " (Read-only file system)");
	}

	@Test
	void aDirectoryWhereAFileReachedTheFloorIsLeftAloneForAWhile(CapturedOutput output) throws Exception {
		use(ByteBudget.UNLIMITED, new SpaceFloor(1000, 0), "a", "b");
		this.fileSystem.volume(directory("a"), 4000, 10_000, "ext4");
		SpillSender sender = spill().sender();
		EngineExtension.await(begin(sender, 10));
		assertThat(files("a")).isOne();
		assertThat(SpillHarness.failure(begin(sender, 1000))).isInstanceOf(SpillDiskFullException.class);
		write(4);
		assertThat(files("b")).isEqualTo(4);
		this.now = this.now.plus(RETRY);
		write(4);
		assertThat(files("b")).isEqualTo(6);
		// The spill has failed with the reason; small ones work in both.
		assertThat(output).doesNotContain("Spills avoid the directory").doesNotContain("can be used again");
	}

	@Test
	void directoriesWhereFilesReachTheFloorTakeTurns() throws Exception {
		use(ByteBudget.UNLIMITED, new SpaceFloor(1000, 0), "small", "large");
		this.fileSystem.volume(directory("small"), 4000, 10_000, "ext4");
		this.fileSystem.volume(directory("large"), 9000, 100_000, "ext4");
		List<Throwable> failures = new ArrayList<>();
		for (int rows : new int[] { 10, 5000, 500, 500, 500, 500 }) {
			this.now = this.now.plusSeconds(1);
			SpillSender sender = spill().sender();
			CompletionStage<Void> written = begin(sender, rows);
			EngineExtension.await(written.handle((done, ex) -> (ex != null) && failures.add(ex)));
		}
		// The one that is too large for any, and one that finds out about the small one.
		assertThat(failures).hasSize(2);
		assertThat(files("large")).isEqualTo(3);
	}

	@Test
	void thatAFileCanBeMadeDoesNotShowThatThereIsRoom() {
		DirectoryHealth health = new DirectoryHealth(() -> this.now, RETRY);
		assertThat(health.troubledAt()).isEqualTo(Instant.MIN);
		health.full();
		assertThat(health.works()).isFalse();
		assertThat(health.isLeftAlone()).isTrue();
		assertThat(health.troubledAt()).isEqualTo(this.now);
		this.now = this.now.plus(RETRY);
		assertThat(health.isLeftAlone()).isFalse();
	}

	@Test
	void aDirectoryThatHasNoRoomForAFileAtAllIsUsedAsSoonAsItHas() throws Exception {
		use(ByteBudget.UNLIMITED, new SpaceFloor(1000, 0), "a", "b");
		this.fileSystem.volume(directory("a"), 1001, 10_000, "ext4");
		write(2);
		assertThat(files("b")).isEqualTo(2);
		this.fileSystem.repair();
		this.now = this.now.plusSeconds(2);
		write(4);
		assertThat(files("a")).isEqualTo(2);
	}

	@Test
	void whenNoneCanBeUsedThenTheFailureSaysWhyForEachAndTheFirstThatWorksIsUsed() throws Exception {
		use("a", "b", "c");
		this.fileSystem.failIn(directory("a"), "Input/output error");
		this.fileSystem.failIn(directory("b"), "Read-only file system");
		Files.writeString(directory("c"), "in the way");
		for (int i = 0; i < 2; i++) {
			ReplaySpill refused = spill();
			Throwable failure = SpillHarness.failure(begin(refused.sender(), 10));
			assertThat(failure).isInstanceOf(SpillIoException.class)
				.hasMessageContaining(refused.name())
				.hasMessageContaining(directory("a") + " (Input/output error)")
				.hasMessageContaining(directory("b") + " (Read-only file system)")
				.hasMessageContaining(directory("c") + " (a file is in the way)")
				.hasMessageContaining("lance.spill.directories")
				.hasCauseInstanceOf(IOException.class);
			assertThat(failure.getCause().getSuppressed()).hasSize(2);
		}
		Files.delete(directory("c"));
		write(2);
		assertThat(files("c")).isEqualTo(2);
	}

	@Test
	void whenTheFirstWriteFailsThenAnotherDirectoryIsTriedAndNothingIsLeft() throws Exception {
		use("a", "b");
		this.fileSystem.fail(Operation.WRITE, 0, 1, "Input/output error");
		write(1);
		assertThat(files("a") + files("b")).isOne();
		assertThat(this.harness.manager.statistics().files()).isOne();
	}

	@Test
	void whenADirectoryIsRemovedThenItIsMadeAgainAndOpenSpillsAreTold() throws Exception {
		use("a", "b");
		ReplaySpill one = spill();
		ReplaySpill other = spill();
		SpillSender first = one.sender();
		SpillSender second = other.sender();
		EngineExtension.await(begin(first, 10));
		EngineExtension.await(begin(second, 10));
		RecordBatchStream reader = one.receiver().read();
		RecordBatch held = EngineExtension.await(reader.next()).orElseThrow();
		deleteRecursively(directory("a"));
		deleteRecursively(directory("b"));
		assertThat(SpillHarness.failure(begin(first, 10))).isInstanceOf(SpillGoneException.class)
			.hasMessageContaining(one.name());
		assertThat(SpillHarness.failure(second.finish())).isInstanceOf(SpillGoneException.class);
		assertThat(SpillHarness.failure(reader.next())).isInstanceOf(SpillGoneException.class);
		assertThat(this.harness.batches.take(held)).hasSize(10);
		write(2);
		assertThat(files("a")).isOne();
		assertThat(files("b")).isOne();
		assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory("a")))).isEqualTo("rwx------");
	}

	@Test
	void orphansAreReclaimedInAll() throws Exception {
		try (SpillChild one = SpillChild.start(directory("a")); SpillChild other = SpillChild.start(directory("b"))) {
			one.kill();
			other.kill();
			use("a", "b");
			assertThat(EngineExtension.await(this.harness.manager.reclaimed())).isEqualTo(2);
			assertThat(this.harness.manager.statistics().orphansReclaimed()).isEqualTo(2);
		}
		assertThat(directory("a")).isEmptyDirectory();
		assertThat(directory("b")).isEmptyDirectory();
	}

	@Test
	void managersOfSeveralProcessesShareADirectory() throws Exception {
		use("a");
		SpillHarness one = this.harness;
		SpillHarness other = use("a");
		try (SpillChild child = SpillChild.start(directory("a"))) {
			List<ReplaySpill> spills = new ArrayList<>();
			for (int i = 0; i < 10; i++) {
				spills.add(written());
				this.harness = (this.harness == one) ? other : one;
			}
			assertThat(files("a")).isEqualTo(11);
			assertThat(child.reclaim()).isZero();
			for (ReplaySpill spill : spills) {
				assertThat(this.harness.read(spill.receiver())).hasSize(10);
			}
			one.close();
			other.close();
			child.read();
			child.end();
		}
		assertThat(directory("a")).isEmptyDirectory();
	}

	@Test
	void aDirectoryThatIsNamedTwiceCountsOnce() throws Exception {
		Path a = directory("a");
		SpillManager manager = SpillManager.builder(this.engine.allocator(), this.engine.pool(1))
			.directories(List.of(a, a.resolve("../a"), Path.of("").toAbsolutePath().relativize(a), a.resolve("nested")))
			.memoryLimit(0)
			.build();
		this.engine.closeLater(() -> {
			manager.close();
			EngineExtension.await(manager.closed());
		});
		Batches batches = new Batches(this.engine.allocator());
		List<ReplaySpill> spills = new ArrayList<>();
		List<SpillSender> senders = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			ReplaySpill spill = manager.createReplaySpill(Batches.SCHEMA);
			spills.add(spill);
			SpillSender sender = spill.sender();
			senders.add(sender);
			try (RecordBatch batch = batches.of(i)) {
				EngineExtension.await(sender.write(batch));
			}
		}
		try (Stream<Path> entries = Files.list(a)) {
			assertThat(entries.filter((path) -> DirectoryName.of(path) != null)).hasSize(1);
		}
		assertThat(files("a/nested")).isEqualTo(2);
		spills.forEach(ReplaySpill::close);
		senders.forEach(SpillSender::close);
	}

	@Test
	void aRelativeDirectoryIsThatOfTheWorkingDirectory() throws Exception {
		Path relative = Path.of("target", "relative-" + System.nanoTime());
		SpillManager manager = SpillManager.builder(this.engine.allocator(), this.engine.pool(1))
			.directories(List.of(relative))
			.memoryLimit(0)
			.build();
		try (ReplaySpill spill = manager.createReplaySpill(Batches.SCHEMA);
				SpillSender sender = spill.sender();
				RecordBatch batch = new Batches(this.engine.allocator()).of(1)) {
			EngineExtension.await(sender.write(batch));
			assertThat(relative.toAbsolutePath()).isNotEmptyDirectory();
		}
		manager.close();
		EngineExtension.await(manager.closed());
		Files.delete(relative);
	}

	@Test
	void aSymbolicLinkToADirectoryIsADirectory() throws Exception {
		Path target = Files.createDirectory(directory("target"));
		Files.createSymbolicLink(directory("link"), target);
		use("link");
		write(1);
		assertThat(files("target")).isOne();
		end();
		assertThat(target).isEmptyDirectory();
	}

	@Test
	void aDirectoryThatSomebodyElseMadeInOurNameIsNotUsed() throws Exception {
		use("a");
		List<Path> foreign = new ArrayList<>();
		this.fileSystem.beforeCreateDirectory((path) -> foreign.add(Files.createDirectory(path)));
		assertThat(SpillHarness.failure(begin(spill().sender(), 10))).isInstanceOf(SpillIoException.class);
		assertThat(foreign).singleElement().satisfies((path) -> assertThat(path).isEmptyDirectory());
		end();
		assertThat(foreign.get(0)).as("not ours").exists();
	}

	@Test
	void valuesThatCannotWorkAreRefused() {
		SpillManager.Builder builder = SpillManager.builder(this.engine.allocator(), Runnable::run, () -> false);
		assertThatIllegalArgumentException().isThrownBy(() -> builder.directories(List.of()));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.diskLimit(0));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.minFreeSpace(-1));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.minFreePercent(-1));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.minFreePercent(100));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.directoryRetry(Duration.ofMillis(-1)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "tmpfs", "ramfs" })
	void whenADirectoryIsInMemoryThenTheLogSaysSo(String type, CapturedOutput output) throws Exception {
		this.fileSystem.volume(this.base, 1000, 10_000, type);
		use("a", "a/b");
		EngineExtension.await(this.harness.manager.reclaimed());
		assertThat(output).containsOnlyOnce(directory("a") + " is on a file system in memory (" + type + ")")
			.containsOnlyOnce(directory("a/b") + " is on a file system in memory")
			.contains("lance.spill.directories");
	}

	@Test
	void whenADirectoryCannotBeUsedThenTheLogSaysSoAtTheStart(CapturedOutput output) throws Exception {
		Files.writeString(directory("file"), "in the way");
		Files.createDirectory(directory("read-only"));
		this.fileSystem.failIn(directory("read-only"), "Read-only file system");
		use("file", "file/below", "read-only", "missing");
		EngineExtension.await(this.harness.manager.reclaimed());
		for (String name : List.of("file", "file/below", "read-only")) {
			assertThat(output).containsOnlyOnce("The spill directory " + directory(name) + " can't be used:");
		}
		assertThat(output).contains("lance.spill.directories").doesNotContain(directory("missing").toString());
		write(1);
		assertThat(files("missing")).isOne();
	}

	@Test
	void nothingIsTouchedOnTheStartingThread() {
		List<Runnable> tasks = new ArrayList<>();
		SpillManager manager = SpillManager.builder(this.engine.allocator(), tasks::add, () -> false)
			.directories(List.of(directory("a")))
			.build(this.fileSystem);
		for (Operation operation : Operation.values()) {
			assertThat(this.fileSystem.count(operation)).as(operation.name()).isZero();
		}
		tasks.forEach(Runnable::run);
		assertThat(this.fileSystem.count(Operation.VOLUME)).isOne();
		manager.close();
	}

}
