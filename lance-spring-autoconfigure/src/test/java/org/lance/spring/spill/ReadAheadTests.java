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
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link ReadAhead}, and for what else spare threads do for a file.
 */
class ReadAheadTests {

	private static final int ROWS = 40_000;

	private static final long WINDOW = 4L << 20;

	@Order(1)
	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@Order(2)
	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@TempDir
	Path base;

	/**
	 * What spare threads may do; they do it when a test lets them.
	 */
	private final Deque<Runnable> offers = new ArrayDeque<>();

	private long nanos;

	/**
	 * How much time goes by each time that somebody looks at it.
	 */
	private long nanosPerLook;

	private int helpers = 1;

	private long window = WINDOW;

	private Batches batches;

	private FileSpillStore store;

	private SpillFile file;

	private Path path;

	/**
	 * Creates a file.
	 */
	private void create(SpillFormat format, ReadMode readMode) throws IOException {
		LocalFileSystem fileSystem = new LocalFileSystem();
		this.batches = new Batches(this.engine.allocator());
		this.store = new FileSpillStore(
				SpillDirectories.of(fileSystem, List.of(() -> this.base), SpaceFloor.NONE, InstantSource.system(),
						Duration.ZERO),
				new ByteBudget(ByteBudget.UNLIMITED), this.engine.allocator(), readMode,
				new SpareThreads(this.offers::add, this.helpers, () -> this.nanos += this.nanosPerLook), fileSystem,
				TestFiles.windows(this.window));
		this.file = this.store.create("test", Batches.SCHEMA, Map.of(), format);
		this.path = Path.of(this.file.toString());
	}

	private void append(int count, int rows) {
		for (int i = 0; i < count; i++) {
			try (RecordBatch batch = this.batches.rows(rows, i)) {
				this.file.append(batch);
			}
		}
	}

	/**
	 * Creates and finishes a file that was changed long ago.
	 */
	private void finished(int count) throws IOException {
		create(SpillFormat.PLAIN, ReadMode.MAP);
		append(count, ROWS);
		this.file.finish();
		this.offers.clear();
		changedAt(0);
	}

	private void changedAt(long millis) throws IOException {
		Files.setLastModifiedTime(this.path, FileTime.fromMillis(millis));
	}

	private void read(int index, Verification verification) {
		assertThat(this.batches.take(this.file.read(index, verification))).hasSize(ROWS).containsOnly((long) index);
	}

	private void assertDamaged(int index) {
		assertThatExceptionOfType(SpillCorruptedException.class)
			.isThrownBy(() -> this.file.read(index, Verification.ALWAYS))
			.withMessageContaining("batch %d ", index);
	}

	private void help() {
		while (!this.offers.isEmpty()) {
			this.offers.remove().run();
		}
	}

	/**
	 * Changes the last value of a batch.
	 */
	private void damage(int index) throws IOException {
		long end = 0;
		for (int i = 0; i <= index; i++) {
			end += this.file.length(i);
		}
		long start = Files.size(this.path) - 8 - lengths();
		try (FileChannel channel = FileChannel.open(this.path, StandardOpenOption.WRITE)) {
			channel.write(ByteBuffer.wrap(new byte[] { 99 }), start + end - 8);
		}
	}

	private long lengths() {
		long lengths = 0;
		for (int i = 0; i < this.file.batches(); i++) {
			lengths += this.file.length(i);
		}
		return lengths;
	}

	@AfterEach
	void nothingIsLeft() {
		if (this.file != null) {
			this.file.delete();
		}
		help();
		this.store.close();
		assertThat(this.base).isEmptyDirectory();
	}

	@Test
	void whatASpareThreadVerifiedIsNotVerifiedAgain() throws Exception {
		finished(3);
		read(0, Verification.ALWAYS);
		help();
		damage(1);
		changedAt(0);
		// Nobody can know; it shows that the work was done before.
		assertThat(this.batches.take(this.file.read(1, Verification.ALWAYS))).contains(99L);
		assertDamaged(1);
	}

	@Test
	void whatChangedAfterASpareThreadVerifiedItIsFound() throws Exception {
		finished(3);
		read(0, Verification.ALWAYS);
		help();
		damage(1);
		assertDamaged(1);
	}

	@Test
	void aFileThatWasTouchedIsReadAheadAgain() throws Exception {
		finished(40);
		read(0, Verification.ALWAYS);
		changedAt(5000);
		for (int i = 1; i <= 20; i++) {
			read(i, Verification.ALWAYS);
			help();
		}
		damage(30);
		changedAt(5000);
		assertThat(this.batches.take(this.file.read(30, Verification.ALWAYS))).contains(99L);
	}

	@Test
	void whatASpareThreadVerifiedIsVerifiedAgainAfterASecond() throws Exception {
		finished(3);
		read(0, Verification.ALWAYS);
		help();
		damage(1);
		changedAt(0);
		this.nanos += Duration.ofSeconds(2).toNanos();
		assertDamaged(1);
	}

	@Test
	void whatIsPreparedForSomeReadersIsNotThrownAwayForOthers() throws Exception {
		this.window = 1 << 30;
		finished(600);
		int offered = 0;
		for (int i = 0; i < 20; i++) {
			for (int reader = 0; reader < 8; reader++) {
				read(reader * 70 + i, Verification.NEVER);
				offered += this.offers.size();
				help();
			}
		}
		// Some readers find no room, or little; the others ask once for many batches.
		assertThat(offered).isLessThan(100);
	}

	@Test
	void whatIsNotTakenMakesRoom() throws Exception {
		this.window = 1 << 30;
		finished(600);
		for (int reader = 0; reader < 8; reader++) {
			read(reader * 70, Verification.NEVER);
			help();
		}
		read(565, Verification.NEVER);
		assertThat(this.offers).isEmpty();
		this.nanos += Duration.ofSeconds(2).toNanos();
		read(566, Verification.NEVER);
		assertThat(this.offers).isNotEmpty();
	}

	@Test
	void othersGetTheirTurnWhileMuchIsReadAhead() throws Exception {
		finished(40);
		this.nanosPerLook = Duration.ofMillis(1).toNanos();
		read(0, Verification.ALWAYS);
		assertThat(this.offers).hasSize(1);
		this.offers.remove().run();
		assertThat(this.offers).hasSize(1);
	}

	@Test
	void whatASpareThreadFoundDamagedIsDamaged() throws Exception {
		finished(3);
		damage(1);
		read(0, Verification.ALWAYS);
		help();
		assertDamaged(1);
		read(2, Verification.ALWAYS);
	}

	@Test
	void nobodyWaitsForASpareThreadAndOneThatComesLateTouchesNothing() throws Exception {
		int before = MappedWindow.open();
		finished(30);
		for (Verification verification : Verification.values()) {
			for (int i = 0; i < 30; i++) {
				read(i, verification);
			}
		}
		assertThat(this.offers).isNotEmpty();
		this.file.delete();
		this.file = null;
		assertThat(MappedWindow.open()).isEqualTo(before);
		help();
	}

	@Test
	void aFileThatWasCutIsNotTouched() throws Exception {
		finished(40);
		read(0, Verification.ALWAYS);
		try (FileChannel channel = FileChannel.open(this.path, StandardOpenOption.WRITE)) {
			channel.truncate(this.file.length(0) * 2);
		}
		help();
		assertThatExceptionOfType(SpillCorruptedException.class)
			.isThrownBy(() -> this.file.read(5, Verification.ALWAYS))
			.withMessageContaining("cut");
	}

	@Test
	void severalBatchesAreReadAheadAtOnce() throws Exception {
		finished(100);
		int offered = 0;
		for (int i = 0; i < 100; i++) {
			read(i, Verification.ALWAYS);
			offered += this.offers.size();
			help();
		}
		// 8 MiB at first, then 4 MiB each time: six or seven times, and some windows.
		assertThat(offered).isBetween(6, 16);
	}

	@Test
	void readersThatWentAwayKeepOnlySomeWindowsMapped() throws Exception {
		int before = MappedWindow.open();
		finished(600);
		for (int i = 0; i < 600; i += 50) {
			read(i, Verification.ALWAYS);
			help();
		}
		// Those that 4 times 8 MiB lie in, and the ones that are kept in any case.
		int ahead = 4 * ((int) ((8L << 20) / WINDOW) + 1);
		assertThat(MappedWindow.open() - before).isLessThanOrEqualTo(ahead + FileWindows.MAX_MAPPED + 1);
	}

	@Test
	void nothingIsReadAheadOfAFileThatGrows() throws Exception {
		create(SpillFormat.PLAIN, ReadMode.MAP);
		append(40, ROWS);
		this.offers.clear();
		read(0, Verification.ALWAYS);
		assertThat(this.offers).isEmpty();
	}

	@Test
	void nothingIsMappedAheadIfNobodyCanHelp() throws Exception {
		this.helpers = 0;
		int before = MappedWindow.open();
		finished(40);
		read(0, Verification.ALWAYS);
		assertThat(MappedWindow.open() - before).isOne();
	}

	@Test
	void nothingSmallIsReadAhead() throws Exception {
		create(SpillFormat.PLAIN, ReadMode.MAP);
		append(40, 10);
		this.file.finish();
		this.file.read(0, Verification.ALWAYS).close();
		assertThat(this.offers).isEmpty();
	}

	@Test
	void onlyMappedFilesAreReadAhead() throws Exception {
		create(SpillFormat.PLAIN, ReadMode.READ);
		append(3, ROWS);
		this.file.finish();
		this.offers.clear();
		read(0, Verification.ALWAYS);
		assertThat(this.offers).isEmpty();
	}

	@Test
	void aSpareThreadHelpsWithTheChecksumsOfLargeBatchesThatAreWritten() throws Exception {
		create(SpillFormat.PLAIN, ReadMode.MAP);
		append(1, ROWS);
		assertThat(this.offers).isEmpty();
		append(1, 10 * ROWS);
		assertThat(this.offers).hasSize(1);
	}

	@Test
	void checksumsThatNobodyComparesAreNotComputed() throws Exception {
		create(new SpillFormat(SpillCompression.NONE, false, false), ReadMode.MAP);
		append(2, 10 * ROWS);
		assertThat(this.offers).isEmpty();
		this.file.finish();
		assertThat(this.batches.take(this.file.read(1, Verification.NEVER))).containsOnly(1L);
		assertThatExceptionOfType(SpillCorruptedException.class)
			.isThrownBy(() -> this.file.read(1, Verification.ALWAYS));
	}

}
