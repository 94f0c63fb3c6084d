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
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import com.sun.management.OperatingSystemMXBean;
import org.apache.arrow.memory.util.MemoryUtil;
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
		return windows(spareThreads, ByteBudget.NONE);
	}

	private static FileWindows windows(SpareThreads spareThreads, ByteBudget kept) {
		Path file = Path.of("test");
		FileSpace space = new FileSpace(new ByteBudget(ByteBudget.UNLIMITED), null, new FileErrors("test", file));
		return new FileWindows(file, new WindowPolicy(100, kept), space, spareThreads);
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
		int before = MappedWindow.open();
		Deque<Runnable> offers = new ArrayDeque<>();
		FileWindows windows = windows(new SpareThreads(offers::add, 1, System::nanoTime));
		try (FileChannel channel = tenWindows(folder, windows)) {
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
		FileWindows[] windows = new FileWindows[1];
		List<Boolean> locked = new ArrayList<>();
		windows[0] = windows(
				new SpareThreads((offer) -> locked.add(Thread.holdsLock(windows[0])), 1, System::nanoTime));
		try (FileChannel channel = tenWindows(folder, windows[0])) {
			for (int i = 0; i < 10; i++) {
				map(windows[0], channel, i);
			}
		}
		windows[0].close();
		assertThat(locked).isNotEmpty().containsOnly(false);
	}

	@Test
	void theExecutorIsAskedOnceForEachWindow(@TempDir Path folder) throws Exception {
		List<Runnable> offers = new ArrayList<>();
		FileWindows windows = windows(new SpareThreads(offers::add, 1, System::nanoTime));
		try (FileChannel channel = tenWindows(folder, windows)) {
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
		int before = MappedWindow.open();
		FileWindows windows = windows(SpareThreads.NONE);
		try (FileChannel channel = tenWindows(folder, windows)) {
			mapAll(windows, channel);
			assertThat(MappedWindow.open() - before).isEqualTo(FileWindows.MAX_MAPPED);
			windows.close();
			assertThat(MappedWindow.open()).isEqualTo(before);
		}
	}

	@Test
	void whileTheBudgetHasRoomAWindowStaysMapped(@TempDir Path folder) throws Exception {
		int before = MappedWindow.open();
		ByteBudget kept = new ByteBudget(350);
		FileWindows windows = windows(SpareThreads.NONE, kept);
		try (FileChannel channel = tenWindows(folder, windows)) {
			mapAll(windows, channel);
			assertThat(MappedWindow.open() - before).isEqualTo(FileWindows.MAX_MAPPED + 3);
			assertThat(kept.used()).isEqualTo(300);
			windows.close();
			assertThat(MappedWindow.open()).isEqualTo(before);
			assertThat(kept.used()).isZero();
		}
	}

	@Test
	void whatIsKeptIsNotMappedAgainHoweverOftenTheRestIs(@TempDir Path folder) throws Exception {
		FileWindows windows = windows(SpareThreads.NONE, new ByteBudget(300));
		List<Integer> mapped = new ArrayList<>();
		try (FileChannel channel = tenWindows(folder, windows)) {
			for (int pass = 0; pass < 3; pass++) {
				mapped.clear();
				for (int i = 0; i < 10; i++) {
					int window = i;
					map(windows, i, (start, size) -> {
						mapped.add(window);
						return MappedWindow.map(channel, start, size);
					});
				}
			}
			assertThat(mapped).containsExactly(3, 4, 5, 6, 7, 8, 9);
			windows.close();
		}
	}

	@Test
	void filesShareTheBudget(@TempDir Path folder) throws Exception {
		int before = MappedWindow.open();
		ByteBudget kept = new ByteBudget(800);
		FileWindows first = windows(SpareThreads.NONE, kept);
		FileWindows second = windows(SpareThreads.NONE, kept);
		try (FileChannel channel = tenWindows(folder, first); FileChannel other = tenWindows(folder, second)) {
			for (int i = 0; i < 10; i++) {
				map(first, channel, i);
				map(second, other, i);
			}
			assertThat(MappedWindow.open() - before).isEqualTo(2 * FileWindows.MAX_MAPPED + 8);
			first.close();
			for (int pass = 0; pass < 2; pass++) {
				mapAll(second, other);
			}
			assertThat(MappedWindow.open() - before).isEqualTo(10);
			second.close();
			assertThat(MappedWindow.open()).isEqualTo(before);
			assertThat(kept.used()).isZero();
		}
	}

	@Test
	void batchesThatAreHeldOutliveTheirWindow(@TempDir Path folder) throws Exception {
		int before = MappedWindow.open();
		ByteBudget kept = new ByteBudget(300);
		FileWindows windows = windows(SpareThreads.NONE, kept);
		try (FileChannel channel = tenWindows(folder, windows)) {
			FileWindows.Mapping mapping = (start, size) -> MappedWindow.map(channel, start, size);
			MessageBytes held = windows.acquire(position(0), mapping);
			assertThat(held).isNotNull();
			mapAll(windows, channel);
			windows.close();
			windows.close();
			assertThat(MappedWindow.open() - before).isOne();
			assertThat(MemoryUtil.getByte(held.address())).isZero();
			held.release().run();
			assertThat(MappedWindow.open()).isEqualTo(before);
			assertThat(kept.used()).isZero();
		}
	}

	@Test
	void aWindowThatCanNotBeMappedIsNotKept(@TempDir Path folder) throws Exception {
		int before = MappedWindow.open();
		ByteBudget kept = new ByteBudget(1000);
		FileWindows windows = windows(SpareThreads.NONE, kept);
		try (FileChannel channel = tenWindows(folder, windows)) {
			for (int i = 0; i < 10; i += 2) {
				map(windows, channel, i);
			}
			assertThat(windows.acquire(position(1), (start, size) -> null)).isNull();
			assertThat(windows.acquire(position(3), (start, size) -> {
				throw new IOException("test");
			})).isNull();
			assertThat(kept.used()).isEqualTo(100);
			assertThat(MappedWindow.open() - before).isEqualTo(FileWindows.MAX_MAPPED + 1);
			windows.close();
			assertThat(MappedWindow.open()).isEqualTo(before);
			assertThat(kept.used()).isZero();
		}
	}

	@Test
	void theUsualBudgetIsAPartOfTheMemory() {
		long memory = ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
		assertThat(WindowPolicy.DEFAULT.kept().limit()).isEqualTo(memory / 16);
		assertThat(WindowPolicy.budget(() -> 32_000).limit()).isEqualTo(2000);
	}

	@Test
	void whenTheJvmDoesNotTellTheMemoryThenThereIsNoBudget() {
		assertThat(WindowPolicy.budget(() -> {
			throw new NullPointerException("test");
		}).limit()).isZero();
		assertThat(WindowPolicy.budget(() -> {
			throw new NoClassDefFoundError("test");
		}).limit()).isZero();
	}

	/**
	 * Makes a file of ten windows.
	 */
	private static FileChannel tenWindows(Path folder, FileWindows windows) throws IOException {
		Path file = Files.write(folder.resolve("file"), new byte[1000]);
		for (int start = 0; start < 1000; start += 100) {
			windows.committed(start, start + 100);
		}
		return FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
	}

	private static void mapAll(FileWindows windows, FileChannel channel) {
		for (int i = 0; i < 10; i++) {
			map(windows, channel, i);
		}
	}

	private static void map(FileWindows windows, FileChannel channel, int window) {
		map(windows, window, (start, size) -> MappedWindow.map(channel, start, size));
	}

	private static void map(FileWindows windows, int window, FileWindows.Mapping mapping) {
		MessageBytes bytes = windows.acquire(position(window), mapping);
		assertThat(bytes).isNotNull();
		bytes.release().run();
	}

	private static Position position(int window) {
		return new Position(window * 100L, 8, 0, 0);
	}

}
