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

import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lance.spring.spill.FileIndex.Position;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which regions of a file are mapped.
 */
class FileWindowsTests {

	private static final long GIB = 1L << 30;

	private final FileWindows windows = windows(SpareThreads.NONE);

	private final List<String> mapped = new ArrayList<>();

	private static FileWindows windows(SpareThreads spareThreads) {
		Path file = Path.of("test");
		FileSpace space = new FileSpace(new DiskBudget(DiskBudget.UNLIMITED), null, new FileErrors("test", file));
		return new FileWindows(file, 100, space, spareThreads);
	}

	private void acquire(long offset) {
		assertThat(this.windows.acquire(new Position(offset, 8, 0, 0), (start, size) -> {
			this.mapped.add(start + "+" + size);
			return null;
		})).isNull();
	}

	@Test
	void windowsEndAtBatchesAndWhatIsStillWrittenIsInNone() {
		this.windows.committed(8, 48);
		acquire(8);
		this.windows.committed(48, 88);
		this.windows.committed(88, 104);
		this.windows.committed(104, 120);
		acquire(0);
		acquire(87);
		acquire(88);
		acquire(104);
		assertThat(this.mapped).containsExactly("0+88", "0+88");
		this.windows.finished(120);
		acquire(88);
		acquire(104);
		acquire(120);
		assertThat(this.mapped).containsExactly("0+88", "0+88", "88+32", "88+32");
	}

	@Test
	void aLargeBatchHasAWindowOfItsOwn() {
		this.windows.committed(8, 48);
		this.windows.committed(48, 348);
		this.windows.committed(348, 388);
		acquire(8);
		acquire(48);
		acquire(348);
		assertThat(this.mapped).containsExactly("0+48", "48+300");
	}

	@Test
	void aWindowThatIsTooLargeForThisJdkIsRead() {
		this.windows.committed(8, 3 * GIB);
		acquire(8);
		boolean anySize = Runtime.version().feature() >= 22;
		assertThat(this.mapped).isEqualTo(anySize ? List.of("8+" + (3 * GIB - 8)) : List.of());
	}

	@Test
	void aWindowThatIsNotKeptIsUnmappedByASpareThreadOrWhenTheNextOneComesOrAtTheEnd(@TempDir Path folder)
			throws Exception {
		Path file = Files.write(folder.resolve("file"), new byte[1000]);
		int before = MappedWindow.open();
		Deque<Runnable> offers = new ArrayDeque<>();
		FileWindows windows = windows(new SpareThreads(offers::add, 1, System::nanoTime));
		for (int start = 0; start < 1000; start += 100) {
			windows.committed(start, start + 100);
		}
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			for (int i = 0; i < 6; i++) {
				map(windows, channel, i);
			}
			assertThat(MappedWindow.open() - before).isEqualTo(FileWindows.MAX_MAPPED + 1);
			offers.remove().run();
			assertThat(MappedWindow.open() - before).isEqualTo(FileWindows.MAX_MAPPED);
			map(windows, channel, 6);
			assertThat(MappedWindow.open() - before).isEqualTo(FileWindows.MAX_MAPPED + 1);
			windows.close();
			assertThat(MappedWindow.open()).isEqualTo(before);
			offers.forEach(Runnable::run);
		}
	}

	@Test
	void theExecutorIsAskedWithoutALock(@TempDir Path folder) throws Exception {
		Path file = Files.write(folder.resolve("file"), new byte[1000]);
		FileWindows[] windows = new FileWindows[1];
		List<Boolean> locked = new ArrayList<>();
		windows[0] = windows(
				new SpareThreads((offer) -> locked.add(Thread.holdsLock(windows[0])), 1, System::nanoTime));
		for (int start = 0; start < 1000; start += 100) {
			windows[0].committed(start, start + 100);
		}
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			for (int i = 0; i < 10; i++) {
				map(windows[0], channel, i);
			}
		}
		windows[0].close();
		assertThat(locked).isNotEmpty().containsOnly(false);
	}

	@Test
	void theExecutorIsAskedOnceForEachWindow(@TempDir Path folder) throws Exception {
		Path file = Files.write(folder.resolve("file"), new byte[1000]);
		List<Runnable> offers = new ArrayList<>();
		FileWindows windows = windows(new SpareThreads(offers::add, 1, System::nanoTime));
		for (int start = 0; start < 1000; start += 100) {
			windows.committed(start, start + 100);
		}
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			for (int i = 0; i <= FileWindows.MAX_MAPPED; i++) {
				map(windows, channel, i);
			}
			for (int i = 0; i < 10; i++) {
				map(windows, channel, FileWindows.MAX_MAPPED);
			}
		}
		windows.close();
		assertThat(offers).hasSize(1);
	}

	@Test
	void withoutASpareThreadAWindowThatIsNotKeptIsUnmappedAtOnce(@TempDir Path folder) throws Exception {
		Path file = Files.write(folder.resolve("file"), new byte[1000]);
		int before = MappedWindow.open();
		FileWindows windows = windows(SpareThreads.NONE);
		for (int start = 0; start < 1000; start += 100) {
			windows.committed(start, start + 100);
		}
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			for (int i = 0; i < 10; i++) {
				map(windows, channel, i);
			}
			assertThat(MappedWindow.open() - before).isEqualTo(FileWindows.MAX_MAPPED);
			windows.close();
			assertThat(MappedWindow.open()).isEqualTo(before);
		}
	}

	private static void map(FileWindows windows, FileChannel channel, int window) {
		MessageBytes bytes = windows.acquire(new Position(window * 100L, 8, 0, 0),
				(start, size) -> MappedWindow.map(channel, start, size));
		assertThat(bytes).isNotNull();
		bytes.release().run();
	}

}
