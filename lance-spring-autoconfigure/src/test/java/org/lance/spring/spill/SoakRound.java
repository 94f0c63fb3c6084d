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
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.lance.spring.stream.BackgroundExecutor;

/**
 * The life of one manager: many spills that are written and read at the same time, with
 * whatever goes wrong. Afterwards nothing may be left.
 */
final class SoakRound {

	private static final long GIB = 1L << 30;

	final SoakReport report;

	final ExecutorService users;

	final BufferAllocator root = new RootAllocator();

	/**
	 * Where batches that are written or looked at are; never short.
	 */
	final BufferAllocator own = this.root.newChildAllocator("users", 0, Long.MAX_VALUE);

	final BufferAllocator allocator;

	final BackgroundExecutor background;

	final SpillManager manager;

	final boolean memoryIsShort;

	final boolean diskIsLimited;

	final boolean directoryIsUnsafe;

	private final Random random;

	private final List<Path> directories = new ArrayList<>();

	private final ExecutorService pool;

	private final ExecutorService sources;

	private final int channels = LocalChannel.open();

	private final int mappings = MappedWindow.open();

	private final int codecs = ZstdCodec.open();

	private final ByteBudget kept;

	/**
	 * Whether the manager may refuse or fail any spill.
	 */
	volatile boolean ending;

	private volatile boolean ended;

	SoakRound(long seed, Path base, ExecutorService users, SoakReport report) throws IOException {
		this.random = new Random(seed);
		this.users = users;
		this.report = report;
		int threads = pick(1, 2, 8);
		report.count("rounds with %d threads".formatted(threads));
		this.pool = Executors.newFixedThreadPool(threads);
		this.sources = Executors.newFixedThreadPool(2);
		this.background = new BackgroundExecutor(this.sources, 1_000);
		this.memoryIsShort = this.random.nextInt(6) == 0;
		this.diskIsLimited = this.random.nextInt(3) == 0;
		this.directoryIsUnsafe = this.random.nextInt(4) == 0;
		this.allocator = this.root.newChildAllocator("spills", 0,
				this.memoryIsShort ? 100_000 + this.random.nextInt(700_000) : Long.MAX_VALUE);
		for (int i = pick(1, 1, 2); i > 0; i--) {
			this.directories.add(Files.createDirectories(base.resolve("directory" + i)));
		}
		this.kept = new ByteBudget(pick(0, 50_000, 1_000_000));
		this.manager = build();
	}

	private SpillManager build() {
		SpillManager.Builder builder = SpillManager.builder(this.allocator, this.pool)
			.directories(this.directories)
			.directoryRetry(Duration.ofMillis(this.random.nextInt(50)))
			.memoryLimit(pick(0, 1, 20_000, 200_000, (int) GIB))
			.totalMemoryLimit(pick(40_000, 300_000, 2_000_000, (int) GIB))
			.onUnusableDirectory(pick(UnusableDirectory.values()))
			.verification(pick(Verification.values()))
			.readMode(pick(ReadMode.values()))
			.compression(pick(SpillCompression.NONE, SpillCompression.zstd(1)))
			.encryption(this.random.nextInt(3) == 0)
			.creationTraces(this.random.nextBoolean())
			.minFreeSpace(0)
			.minFreePercent(0);
		WindowPolicy windows = new WindowPolicy(pick(500, 10_000, 100_000, (int) GIB), this.kept);
		return (this.diskIsLimited ? builder.diskLimit(pick(10_000, 200_000, 2_000_000)) : builder)
			.build(new LocalFileSystem(), () -> windows);
	}

	@SafeVarargs
	private final <T> T pick(T... values) {
		return values[this.random.nextInt(values.length)];
	}

	/**
	 * Runs the round to its end.
	 */
	void run() throws Exception {
		List<Future<?>> spills = new ArrayList<>();
		for (int i = 2 + this.random.nextInt(8); i > 0; i--) {
			SoakSpill spill = new SoakSpill(this, this.random.nextLong());
			spills.add(this.users.submit(spill::run));
		}
		Future<?> vandal = this.users.submit(this::removeDirectories);
		if (this.random.nextInt(3) == 0) {
			Thread.sleep(this.random.nextInt(150));
			endEarly();
		}
		for (Future<?> spill : spills) {
			spill.get();
		}
		this.ended = true;
		vandal.get();
		this.manager.close();
		this.manager.closed().toCompletableFuture().get();
		stop(this.pool);
		stop(this.sources);
		checkNothingIsLeft();
		this.report.count("restarts");
	}

	private static void stop(ExecutorService executor) throws InterruptedException {
		executor.shutdown();
		while (!executor.awaitTermination(1, TimeUnit.SECONDS)) {
			// The watchdog tells if it never ends.
			Thread.onSpinWait();
		}
	}

	private void endEarly() throws Exception {
		this.ending = true;
		switch (this.random.nextInt(4)) {
			case 0 -> {
				this.report.count("managers closed while in use");
				this.manager.close();
			}
			case 1 -> {
				this.report.count("executors shut down while in use");
				if (this.random.nextBoolean()) {
					this.pool.shutdown();
				}
				else {
					this.pool.shutdownNow();
				}
			}
			case 2 -> {
				this.report.count("drains");
				CompletionStage<Void> drained = this.manager.drain(Duration.ofMillis(this.random.nextInt(50)));
				if (this.random.nextBoolean()) {
					drained.toCompletableFuture().get();
				}
				this.manager.resume();
			}
			default -> {
				// Until the limit is changed again, or the spills end by it.
				this.report.count("changes of the disk limit");
				if (this.diskIsLimited) {
					this.manager.setDiskLimit(1 + this.random.nextInt(1_000_000));
				}
			}
		}
	}

	/**
	 * Removes a directory or puts a file in its place, now and then.
	 */
	private void removeDirectories() {
		Random own = new Random(this.directories.hashCode());
		try {
			while (this.directoryIsUnsafe && !this.ended) {
				Thread.sleep(own.nextInt(40));
				Path directory = this.directories.get(own.nextInt(this.directories.size()));
				delete(directory);
				this.report.note("directories removed", 1);
				if (own.nextBoolean()) {
					putFile(directory);
					Thread.sleep(own.nextInt(20));
					delete(directory);
				}
			}
		}
		catch (Exception ex) {
			this.report.fail(ex);
		}
	}

	private void putFile(Path path) {
		try {
			Files.writeString(path, "in the way");
			this.report.note("directories replaced by a file", 1);
		}
		catch (IOException ex) {
			// The spills were faster.
			this.report.note("directories that were back at once", 1);
		}
	}

	private static void delete(Path directory) throws IOException {
		while (Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
			try (Stream<Path> paths = Files.walk(directory)) {
				for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
					Files.deleteIfExists(path);
				}
			}
			catch (IOException | java.io.UncheckedIOException ex) {
				// Something was made or removed meanwhile.
				Thread.onSpinWait();
			}
		}
	}

	private void checkNothingIsLeft() throws Exception {
		SpillStatistics left = this.manager.statistics();
		this.report.count("spills that went to disk", left.spilled());
		this.report.count("batches written to files", left.writes());
		this.report.count("batches read from files", left.reads());
		expect(LocalChannel.open() == this.channels, "Files are open");
		expect(MappedWindow.open() == this.mappings, "Files are mapped");
		expect(this.kept.used() == 0, "Windows are kept");
		expect(ZstdCodec.open() == this.codecs, "Codecs are open");
		expect(this.background.openStreams() == 0, "Sources are open");
		expect(this.manager.spills().isEmpty(), "The manager has spills: " + this.manager.spills());
		expect(left.active() == 0 && left.memoryUsed() == 0 && left.diskUsed() == 0 && left.files() == 0,
				"The manager holds something: " + left);
		for (Path directory : this.directories) {
			expect(isEmpty(directory), "Files are left in " + directory);
		}
		// Fail if there is memory in use.
		this.allocator.close();
		this.own.close();
		this.root.close();
	}

	private static boolean isEmpty(Path directory) throws IOException {
		try (Stream<Path> files = Files.list(directory)) {
			return files.findAny().isEmpty();
		}
		catch (NoSuchFileException ex) {
			return true;
		}
	}

	private static void expect(boolean right, String failure) {
		if (!right) {
			throw new AssertionError(failure);
		}
	}

}
