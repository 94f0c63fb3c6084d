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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Tests with a real disk that is small, and a real directory that takes no files.
 * Mounting and marking need rights that builds often lack; then these tests are skipped.
 */
@ExtendWith(OutputCaptureExtension.class)
class FullDiskTests {

	private static final int MEGABYTE = 128 * 1024;

	@RegisterExtension
	@Order(2)
	final EngineExtension engine = new EngineExtension();

	@RegisterExtension
	@Order(1)
	final OpenFiles openFiles = new OpenFiles();

	@TempDir
	Path folder;

	private final List<List<String>> undo = new ArrayList<>();

	private SpillManager manager;

	private Batches batches;

	@AfterEach
	void undo() throws Exception {
		if (this.manager != null) {
			this.manager.close();
			EngineExtension.await(this.manager.closed());
		}
		for (List<String> command : this.undo) {
			assertThat(run(command)).as("%s", command).isEmpty();
		}
	}

	/**
	 * Runs a command, or skips the test if it can't be run.
	 */
	private void assume(List<String> command, List<String> undo) throws Exception {
		String output;
		try {
			output = run(command);
		}
		catch (IOException ex) {
			output = ex.getMessage();
		}
		assumeThat(output).as("%s is not allowed here: %s", String.join(" ", command), output).isEmpty();
		this.undo.add(0, undo);
	}

	private static String run(List<String> command) throws IOException, InterruptedException {
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		return (process.waitFor() == 0) ? "" : "failed with " + process.exitValue() + ": " + output.strip();
	}

	private Path smallDisk() throws Exception {
		Path disk = Files.createDirectory(this.folder.resolve("disk"));
		assume(List.of("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk.toString()),
				List.of("umount", disk.toString()));
		return disk;
	}

	private void use(SpillManager.Builder builder) {
		this.batches = new Batches(this.engine.allocator());
		this.manager = builder.memoryLimit(0).build();
	}

	private SpillManager.Builder builder(Path... directories) {
		return SpillManager.builder(this.engine.allocator(), this.engine.pool(1)).directories(List.of(directories));
	}

	private CompletionStage<Void> begin(SpillSender sender, int rows, long value) {
		try (RecordBatch batch = this.batches.rows(rows, value)) {
			return sender.write(batch);
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenTheDiskIsFullThenTheSpillFailsAndTheNextOneHasItsSpace(ReadMode readMode) throws Exception {
		Path disk = smallDisk();
		use(builder(disk).minFreeSpace(0).minFreePercent(0).readMode(readMode));
		for (int round = 0; round < 2; round++) {
			ReplaySpill spill = this.manager.createReplaySpill(Batches.SCHEMA);
			SpillSender sender = spill.sender();
			RecordBatchStream reader = spill.receiver().read();
			for (int i = 0; i < 7; i++) {
				EngineExtension.await(begin(sender, MEGABYTE, i));
			}
			RecordBatch held = EngineExtension.await(reader.next()).orElseThrow();
			assertThat(SpillHarness.failure(begin(sender, 2 * MEGABYTE, 7))).isInstanceOf(SpillDiskFullException.class)
				.hasMessageContaining(spill.name())
				.hasMessageContaining("lance.spill.directories");
			assertThat(SpillHarness.failure(reader.next())).isInstanceOf(SpillDiskFullException.class);
			assertThat(SpillHarness.failure(sender.finish())).isInstanceOf(SpillDiskFullException.class);
			assertThat(this.batches.take(held)).hasSize(MEGABYTE).containsOnly(0L);
			EngineExtension.await(spill.closed());
			assertThat(this.manager.statistics().diskUsed()).isZero();
		}
		this.manager.close();
		EngineExtension.await(this.manager.closed());
		assertThat(disk).isEmptyDirectory();
	}

	@Test
	void someOfTheDiskStaysFreeWhoeverFillsIt() throws Exception {
		Path disk = smallDisk();
		use(builder(disk).minFreeSpace(2 << 20).minFreePercent(0));
		ReplaySpill spill = this.manager.createReplaySpill(Batches.SCHEMA);
		SpillSender sender = spill.sender();
		EngineExtension.await(begin(sender, MEGABYTE, 1));
		assertThat(SpillHarness.failure(begin(sender, 6 * MEGABYTE, 2))).isInstanceOf(SpillDiskFullException.class)
			.hasMessageContaining("lance.spill.min-free-space");
		EngineExtension.await(spill.closed());
		Path foreign = Files.write(disk.resolve("foreign"), new byte[7 << 20]);
		ReplaySpill refused = this.manager.createReplaySpill(Batches.SCHEMA);
		SpillSender other = refused.sender();
		assertThat(SpillHarness.failure(begin(other, 2 * MEGABYTE, 1))).isInstanceOf(SpillDiskFullException.class);
		Files.delete(foreign);
		ReplaySpill taken = this.manager.createReplaySpill(Batches.SCHEMA);
		EngineExtension.await(begin(taken.sender(), 2 * MEGABYTE, 1));
		taken.close();
	}

	@Test
	void whenOneOfTwoDisksIsFullThenNewSpillsGoToTheOther(CapturedOutput output) throws Exception {
		Path disk = smallDisk();
		Path other = this.folder.resolve("other");
		use(builder(disk, other).minFreeSpace(0).minFreePercent(0));
		EngineExtension.await(this.manager.reclaimed());
		assertThat(output).contains(disk + " is on a file system in memory (tmpfs)");
		Files.write(disk.resolve("foreign"), new byte[(8 << 20) - 16384]);
		List<ReplaySpill> spills = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			ReplaySpill spill = this.manager.createReplaySpill(Batches.SCHEMA);
			spills.add(spill);
			SpillSender sender = spill.sender();
			// One may find out by failing.
			EngineExtension.await(begin(sender, MEGABYTE, i).handle((value, ex) -> ex));
			EngineExtension.await(sender.finish().handle((value, ex) -> ex));
		}
		List<SpillSnapshot.State> states = spills.stream().map((spill) -> spill.snapshot().state()).toList();
		assertThat(states).filteredOn(SpillSnapshot.State.FAILED::equals).hasSizeLessThanOrEqualTo(1);
		assertThat(states.subList(2, 4)).containsOnly(SpillSnapshot.State.FINISHED);
		spills.forEach(ReplaySpill::close);
	}

	@Test
	void whenADirectoryTakesNoFilesThenTheFailureSaysSoUntilItDoes() throws Exception {
		Path directory = Files.createDirectory(this.folder.resolve("locked"));
		List<String> unlock = List.of("chattr", "-i", directory.toString());
		assume(List.of("chattr", "+i", directory.toString()), unlock);
		use(builder(directory));
		ReplaySpill refused = this.manager.createReplaySpill(Batches.SCHEMA);
		SpillSender sender = refused.sender();
		assertThat(SpillHarness.failure(begin(sender, 10, 1))).isInstanceOf(SpillIoException.class)
			.hasMessageContaining(directory.toString())
			.hasMessageContaining("lance.spill.directories");
		assertThat(run(unlock)).isEmpty();
		ReplaySpill taken = this.manager.createReplaySpill(Batches.SCHEMA);
		EngineExtension.await(begin(taken.sender(), 10, 1));
		taken.close();
	}

}
