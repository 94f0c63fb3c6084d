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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.lance.spring.spill.FaultyFileSystem.Operation;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests who makes and removes directories, and when.
 */
class SpillDirectoryTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@TempDir
	Path base;

	private final FaultyFileSystem fileSystem = new FaultyFileSystem();

	private final List<FileSpillStore> stores = new ArrayList<>();

	private final List<SpillFile> files = new ArrayList<>();

	@AfterEach
	void closeAll() {
		this.files.forEach(SpillFile::delete);
		this.stores.forEach(FileSpillStore::close);
	}

	private FileSpillStore store(Path directory) {
		FileSpillStore store = new FileSpillStore(() -> directory, this.engine.allocator(), ReadMode.MAP,
				this.fileSystem, TestFiles.windows(1024));
		this.stores.add(store);
		return store;
	}

	private SpillFile create(FileSpillStore store) {
		SpillFile file = store.create("test", Batches.SCHEMA, Map.of(), SpillFormat.PLAIN);
		this.files.add(file);
		append(file, 1);
		return file;
	}

	private void append(SpillFile file, long value) {
		try (RecordBatch batch = new Batches(this.engine.allocator()).of(value)) {
			file.append(batch);
		}
	}

	private List<Long> read(SpillFile file, int index) {
		return new Batches(this.engine.allocator()).take(file.read(index, Verification.ALWAYS));
	}

	private static List<Path> entries(Path directory) throws IOException {
		try (Stream<Path> paths = Files.list(directory)) {
			return paths.toList();
		}
	}

	private static Path ownDirectory(Path directory) throws IOException {
		return entries(directory).stream().filter((path) -> DirectoryName.of(path) != null).findFirst().orElseThrow();
	}

	private static Path lockFile(Path directory) throws IOException {
		return entries(directory).stream()
			.filter((path) -> DirectoryName.ofLock(path) != null)
			.findFirst()
			.orElseThrow();
	}

	private static void deleteRecursively(Path directory) throws IOException {
		try (Stream<Path> paths = Files.walk(directory)) {
			for (Path path : paths.sorted(java.util.Comparator.reverseOrder()).toList()) {
				Files.delete(path);
			}
		}
	}

	private static String permissions(Path path) throws IOException {
		return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
	}

	@Test
	void nothingIsTouchedBeforeTheFirstFile() throws Exception {
		FileSpillStore store = store(this.base.resolve("a"));
		assertThat(store.reclaim()).isZero();
		store.close();
		assertThat(this.base).isEmptyDirectory();
	}

	@Test
	void allMissingLevelsAreMadePrivate() throws Exception {
		Path nested = this.base.resolve("a/b/c");
		create(store(nested));
		for (Path path : List.of(nested, nested.getParent(), nested.getParent().getParent(), ownDirectory(nested))) {
			assertThat(permissions(path)).isEqualTo("rwx------");
		}
		assertThat(permissions(lockFile(nested))).isEqualTo("rw-------");
	}

	@Test
	void whenClosedThenOnlyWhatWasMadeIsRemoved() throws Exception {
		Files.writeString(this.base.resolve("foreign.arrows"), "foreign");
		Files.createDirectory(this.base.resolve("lance-spill-foreign"));
		FileSpillStore store = store(this.base);
		create(store);
		create(store);
		assertThat(entries(this.base)).hasSize(4);
		store.close();
		store.close();
		assertThat(entries(this.base)).extracting((path) -> path.getFileName().toString())
			.containsExactlyInAnyOrder("foreign.arrows", "lance-spill-foreign");
	}

	@Test
	void whatOthersPutIntoTheDirectoryStays() throws Exception {
		FileSpillStore store = store(this.base);
		create(store);
		Path foreign = Files.writeString(ownDirectory(this.base).resolve("foreign.txt"), "foreign");
		store.close();
		assertThat(foreign).exists();
		assertThat(entries(foreign.getParent())).containsExactly(foreign);
		Files.delete(foreign);
	}

	@Test
	void storesDoNotShareADirectory() throws Exception {
		FileSpillStore one = store(this.base);
		FileSpillStore other = store(this.base);
		SpillFile first = create(one);
		SpillFile second = create(other);
		assertThat(first.toString()).isNotEqualTo(second.toString());
		one.close();
		assertThat(read(second, 0)).containsExactly(1L);
		other.close();
		assertThat(this.base).isEmptyDirectory();
	}

	@Test
	void filesOfOneNameDoNotClashAndNamesMayBeAnything() throws Exception {
		FileSpillStore store = store(this.base);
		Set<String> paths = new HashSet<>();
		for (String name : List.of("a", "a", "../../a", "a/b\\c:d\0", "ü".repeat(300), "")) {
			SpillFile file = store.create(name, Batches.SCHEMA, Map.of(), SpillFormat.PLAIN);
			this.files.add(file);
			paths.add(file.toString());
		}
		assertThat(entries(ownDirectory(this.base))).hasSize(6).allMatch((path) -> paths.contains(path.toString()));
		store.close();
		assertThat(this.base).isEmptyDirectory();
	}

	@Test
	void whenTheBaseDirectoryIsRemovedThenTheNextFileMakesItAgain() throws Exception {
		Path directory = this.base.resolve("cleaned");
		FileSpillStore store = store(directory);
		SpillFile before = create(store);
		deleteRecursively(directory);
		assertThatExceptionOfType(SpillGoneException.class).isThrownBy(() -> read(before, 0));
		SpillFile after = create(store);
		assertThat(permissions(ownDirectory(directory))).isEqualTo("rwx------");
		assertThat(read(after, 0)).containsExactly(1L);
		store.close();
		assertThat(directory).isEmptyDirectory();
	}

	@Test
	void whenOnlyTheLockFileIsRemovedThenNewFilesGoToALockedDirectory() throws Exception {
		FileSpillStore store = store(this.base);
		SpillFile before = create(store);
		Files.delete(lockFile(this.base));
		SpillFile after = create(store);
		assertThat(lockFile(this.base)).exists();
		assertThat(read(before, 0)).isEqualTo(read(after, 0));
		store.close();
		assertThat(this.base).isEmptyDirectory();
	}

	@Test
	void whenTheBaseIsBelowAFileThenCreationFailsUntilThatIsRepaired() throws Exception {
		Path file = Files.writeString(this.base.resolve("file"), "in the way");
		FileSpillStore store = store(file.resolve("spills"));
		assertThat(store.reclaim()).isZero();
		assertThatExceptionOfType(SpillIoException.class).isThrownBy(() -> create(store))
			.withMessageContaining("'test'")
			.withMessageContaining(file.toString())
			.withMessageContaining("lance.spill.directories")
			.withCauseInstanceOf(IOException.class);
		Files.delete(file);
		SpillFile after = create(store);
		assertThat(read(after, 0)).containsExactly(1L);
	}

	@Test
	void whenTheBaseCannotBeDeterminedThenCreationFails() {
		FileSpillStore store = new FileSpillStore(() -> {
			throw new IllegalStateException("no home");
		}, this.engine.allocator(), ReadMode.MAP);
		assertThat(store.reclaim()).isZero();
		assertThatExceptionOfType(SpillIoException.class).isThrownBy(() -> create(store))
			.withMessageContaining("no home")
			.withRootCauseInstanceOf(IllegalStateException.class);
	}

	@Test
	void whenAnyStepOfCreationFailsThenNothingIsLeft() throws Exception {
		for (Operation operation : List.of(Operation.CREATE_DIRECTORY, Operation.CREATE, Operation.LOCK,
				Operation.STATE, Operation.WRITE)) {
			for (int at = 0; at < 2; at++) {
				FileSpillStore store = store(this.base);
				this.fileSystem.fail(operation, at, "Input/output error");
				try {
					create(store);
				}
				catch (SpillIoException ex) {
					assertThat(ex).hasRootCauseMessage("Input/output error");
				}
				this.fileSystem.repair();
				SpillFile after = create(store);
				assertThat(read(after, 0)).containsExactly(1L);
				store.close();
				assertThat(this.base).as("%s %d", operation, at).isEmptyDirectory();
			}
		}
	}

	@Test
	void whenClosedThenNoFileIsMade() {
		FileSpillStore store = store(this.base);
		store.close();
		assertThatIllegalStateException().isThrownBy(() -> create(store));
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void theDirectoryOfADeadProcessIsReclaimedAndThatOfALivingOneIsNot(CapturedOutput output) throws Exception {
		Files.writeString(this.base.resolve("foreign.arrows"), "foreign");
		Path noLock = Files.createDirectory(DirectoryName.next().directory(this.base));
		FileSpillStore own = store(this.base);
		SpillFile file = create(own);
		try (SpillChild dead = SpillChild.start(this.base); SpillChild living = SpillChild.start(this.base)) {
			assertThat(entries(this.base)).hasSize(8);
			FileSpillStore next = store(this.base);
			assertThat(next.reclaim()).isZero();
			living.read();
			dead.read();
			dead.kill();
			assertThat(next.reclaim()).isOne();
			assertThat(output).containsOnlyOnce("of a dead process")
				.contains("Removed the spill directory " + this.base);
			assertThat(living.reclaim()).isZero();
			assertThat(entries(this.base)).hasSize(6);
			living.read();
			append(file, 2);
			assertThat(read(file, 0)).containsExactly(1L);
			assertThat(read(file, 1)).containsExactly(2L);
			// Our own lock must have survived all this.
			assertThat(living.reclaim()).isZero();
			living.end();
		}
		own.close();
		assertThat(entries(this.base)).containsExactlyInAnyOrder(noLock, this.base.resolve("foreign.arrows"));
	}

	@Test
	void whenTheSweepFailsThenTheRestGoesOn() throws Exception {
		SpillChild one = SpillChild.start(this.base);
		SpillChild two = SpillChild.start(this.base);
		one.kill();
		two.kill();
		FileSpillStore store = store(this.base);
		this.fileSystem.fail(Operation.LIST, 0, 1, "Input/output error");
		assertThat(store.reclaim()).isZero();
		this.fileSystem.fail(Operation.DELETE, 0, 1, "Input/output error");
		assertThat(store.reclaim()).isOne();
		assertThat(store.reclaim()).isOne();
		assertThat(this.base).isEmptyDirectory();
	}

}
