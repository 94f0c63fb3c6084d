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

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionStage;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.lance.spring.spill.FaultyFileSystem.Operation;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that spills leave some of the disk free, whoever fills it.
 */
class FreeSpaceTests {

	private static final long MB = 1024 * 1024;

	private static final SpaceFloor FLOOR = new SpaceFloor(100 * MB, 1);

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

	@BeforeEach
	void setUp() {
		this.harness = harness(FLOOR);
	}

	private SpillHarness harness(SpaceFloor floor) {
		SpillDirectories directories = SpillDirectories.of(this.fileSystem, List.of(() -> this.base), floor,
				() -> this.now, Duration.ZERO);
		return new SpillHarness(this.engine, new FileSpillStore(directories, new ByteBudget(ByteBudget.UNLIMITED),
				this.engine.allocator(), ReadMode.MAP, SpareThreads.NONE, this.fileSystem, TestFiles.windows(1 << 20)),
				1);
	}

	private void free(long bytes) {
		this.fileSystem.volume(this.base, bytes, 1000 * MB, "ext4");
	}

	private void secondsPass() {
		this.now = this.now.plusSeconds(1);
	}

	private ReplaySpill spill() {
		return this.harness.keep(this.harness.spill(Place.DISK));
	}

	private CompletionStage<Void> begin(SpillSender sender, int rows) {
		return this.harness.beginRows(this.harness.keep(sender), rows, 1);
	}

	private void write(SpillSender sender, int rows) throws Exception {
		EngineExtension.await(begin(sender, rows));
	}

	private void assertRefused(SpillSender sender, int rows) throws Exception {
		assertThat(SpillHarness.failure(begin(sender, rows))).isInstanceOf(SpillDiskFullException.class);
	}

	@Test
	void newSpillsAreRefusedOrTakenAsTheFreeSpaceChanges() throws Exception {
		free(10 * MB);
		ReplaySpill refused = spill();
		assertThat(SpillHarness.failure(begin(refused.sender(), 10))).isInstanceOf(SpillDiskFullException.class)
			.hasMessageContaining(refused.name())
			.hasMessageContaining("%d bytes are free".formatted(10 * MB))
			.hasMessageContaining("%d must stay free".formatted(100 * MB))
			.hasMessageContaining("lance.spill.min-free-space")
			.hasMessageContaining("lance.spill.min-free-percent")
			.hasMessageContaining("lance.spill.directories");
		assertThat(this.fileSystem.count(Operation.CREATE)).as("no more than the lock file").isOne();
		free(1000 * MB);
		write(spill().sender(), 10);
		free(10 * MB);
		secondsPass();
		assertRefused(spill().sender(), 10);
		assertThat(this.harness.manager.statistics().failures()).containsEntry("disk-full", 2L);
	}

	@Test
	void spillsThatAreWrittenAreRefusedMoreAsTheFreeSpaceChanges() throws Exception {
		free(1000 * MB);
		ReplaySpill spill = spill();
		SpillSender sender = spill.sender();
		write(sender, 10);
		free(10 * MB);
		secondsPass();
		int writes = this.fileSystem.count(Operation.WRITE);
		assertThat(SpillHarness.failure(begin(sender, 10))).isInstanceOf(SpillDiskFullException.class)
			.hasMessageContaining("%d bytes are free".formatted(10 * MB));
		assertThat(this.fileSystem.count(Operation.WRITE)).isEqualTo(writes);
		assertThat(SpillHarness.failure(spill.receiver().read().next())).isInstanceOf(SpillDiskFullException.class);
		EngineExtension.await(spill.closed());
		assertThat(this.harness.manager.statistics().diskUsed()).isZero();
	}

	@Test
	void theSystemIsAskedAgainAfterSomeBytes() throws Exception {
		free(1000 * MB);
		SpillSender sender = spill().sender();
		int megabyte = 128 * 1024;
		write(sender, 7 * megabyte);
		free(10 * MB);
		write(sender, 7 * megabyte);
		assertRefused(sender, 7 * megabyte);
	}

	@Test
	void theSystemIsNotAskedForEverySmallBatch() throws Exception {
		free(1000 * MB);
		SpillSender sender = spill().sender();
		write(sender, 10);
		int asked = this.fileSystem.count(Operation.VOLUME);
		for (int i = 0; i < 100; i++) {
			write(sender, 10);
		}
		SpillSender other = spill().sender();
		write(other, 10);
		assertThat(this.fileSystem.count(Operation.VOLUME)).isEqualTo(asked);
		secondsPass();
		write(sender, 10);
		write(other, 10);
		assertThat(this.fileSystem.count(Operation.VOLUME)).as("one answer for all spills of a directory")
			.isEqualTo(asked + 1);
	}

	@Test
	void whatIsWrittenCountsBeforeTheSystemIsAskedAgain() throws Exception {
		free(100 * MB + 10_000);
		SpillSender sender = spill().sender();
		write(sender, 1000);
		free(100 * MB + 1000);
		assertRefused(sender, 1000);
	}

	@Test
	void spaceThatWasFreedIsNoticedAtOnce() throws Exception {
		free(100 * MB + 10_000);
		SpillSender sender = spill().sender();
		write(sender, 1000);
		free(1000 * MB);
		write(sender, 100_000);
	}

	@Test
	void whenTheClockIsSetBackThenTheSystemIsAsked() throws Exception {
		free(1000 * MB);
		SpillSender sender = spill().sender();
		write(sender, 10);
		free(10 * MB);
		this.now = this.now.minusSeconds(1000);
		assertRefused(sender, 10);
	}

	@Test
	void theLargerFloorApplies() throws Exception {
		assertThat(new SpaceFloor(100, 10).of(2000)).isEqualTo(200);
		assertThat(new SpaceFloor(100, 10).of(900)).isEqualTo(100);
		assertThat(new SpaceFloor(0, 99).of(Long.MAX_VALUE)).isPositive();
		free(110 * MB);
		this.harness = harness(new SpaceFloor(100 * MB, 11));
		assertRefused(spill().sender(), 10);
		this.harness = harness(new SpaceFloor(100 * MB, 10));
		write(spill().sender(), 10);
	}

	@Test
	void whenTheFreeSpaceCannotBeDeterminedThenSpillsWork() throws Exception {
		this.fileSystem.fail(Operation.VOLUME, 0, "Input/output error");
		write(spill().sender(), 10);
	}

	@Test
	void whenNothingMustStayFreeThenTheSystemIsNotAsked() throws Exception {
		free(0);
		// Each manager looks at the directory once, when it starts.
		EngineExtension.await(this.harness.manager.reclaimed());
		this.harness = harness(SpaceFloor.NONE);
		EngineExtension.await(this.harness.manager.reclaimed());
		int asked = this.fileSystem.count(Operation.VOLUME);
		write(spill().sender(), 10);
		assertThat(this.fileSystem.count(Operation.VOLUME)).isEqualTo(asked);
	}

}
