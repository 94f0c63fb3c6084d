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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.spill.FaultyFileSystem.Operation;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests readers that race the writer of a file, and each other.
 */
class SpillFileRaceTests {

	private static final int BATCHES = 20;

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@TempDir
	Path base;

	private Batches batches;

	/**
	 * Enough for two windows of large batches.
	 */
	private final ByteBudget kept = new ByteBudget(90_000);

	private ExecutorService pool;

	@BeforeEach
	void setUp() {
		this.batches = new Batches(this.engine.allocator());
		this.pool = this.engine.pool(4);
	}

	/**
	 * Some windows stay mapped and others take turns.
	 */
	private FileSpillStore store(ReadMode readMode) {
		return new FileSpillStore(() -> this.base, this.engine.allocator(), readMode, new LocalFileSystem(),
				() -> new WindowPolicy(8192, this.kept));
	}

	/**
	 * Writes in this thread while readers, each in a thread of its own, follow closely.
	 */
	private void race(FileSpillStore store, List<RecordBatch> source) throws Exception {
		SpillFile file = store.create("race", Batches.SCHEMA, Map.of(), SpillFormat.PLAIN);
		List<Future<?>> readers = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			readers.add(this.pool.submit(() -> {
				for (int next = 0; next < BATCHES;) {
					if (next < file.batches()) {
						try (RecordBatch batch = file.read(next, Verification.ALWAYS);
								RecordBatch copy = batch.share()) {
							assertThat(this.batches.take(copy)).hasSize(batch.rowCount()).containsOnly((long) next);
						}
						next++;
					}
				}
				return null;
			}));
		}
		try {
			source.forEach(file::append);
			file.finish();
			for (Future<?> reader : readers) {
				reader.get(30, TimeUnit.SECONDS);
			}
		}
		finally {
			file.delete();
		}
		assertThat(this.kept.used()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void readersSeeWhatIsCommittedAndNothingElse(ReadMode readMode) throws Exception {
		List<RecordBatch> source = new ArrayList<>();
		for (int i = 0; i < BATCHES; i++) {
			source.add(this.batches.rows((i % 3 == 0) ? 5_000 : 50, i));
		}
		FileSpillStore store = store(readMode);
		for (int run = 0; run < 20; run++) {
			race(store, source);
		}
		store.close();
		source.forEach(RecordBatch::close);
	}

	static Stream<SpillFormat> formats() {
		return Stream.of(SpillFormat.PLAIN, new SpillFormat(SpillCompression.zstd(1), false),
				new SpillFormat(SpillCompression.NONE, true), new SpillFormat(SpillCompression.zstd(1), true));
	}

	@ParameterizedTest
	@MethodSource("formats")
	void aBatchThatTakesSeveralWritesIsThereAfterTheLastOne(SpillFormat format) throws Exception {
		FaultyFileSystem fileSystem = new FaultyFileSystem();
		FileSpillStore store = new FileSpillStore(() -> this.base, this.engine.allocator(), ReadMode.MAP, fileSystem,
				TestFiles.windows(1 << 20));
		// Nothing that gets smaller by compression.
		long[] values = new Random(42).longs(400_000).toArray();
		SpillFile file = store.create("slow", Batches.SCHEMA, Map.of(), format);
		try (RecordBatch small = this.batches.of(7); RecordBatch large = this.batches.of(values)) {
			file.append(small);
			int before = fileSystem.count(Operation.WRITE);
			Gate gate = new Gate();
			fileSystem.beforeWrite(() -> {
				if (fileSystem.count(Operation.WRITE) - before == 2) {
					gate.pass();
				}
			});
			Future<?> writing = this.pool.submit(() -> file.append(large));
			gate.awaitArrival();
			assertThat(file.batches()).isOne();
			assertThat(this.batches.take(file.read(0, Verification.ALWAYS))).containsExactly(7L);
			assertThat(writing).isNotDone();
			gate.open();
			writing.get(30, TimeUnit.SECONDS);
			assertThat(fileSystem.count(Operation.WRITE) - before).isGreaterThan(2);
			assertThat(file.batches()).isEqualTo(2);
			assertThat(this.batches.take(file.read(1, Verification.ALWAYS)))
				.isEqualTo(LongStream.of(values).boxed().toList());
		}
		file.delete();
		store.close();
	}

	@ParameterizedTest
	@EnumSource
	void interruptsOfOneReaderDisturbNobody(ReadMode readMode) throws Exception {
		List<RecordBatch> source = new ArrayList<>();
		for (int i = 0; i < BATCHES; i++) {
			source.add(this.batches.rows(100, i));
		}
		FileSpillStore store = store(readMode);
		SpillFile file = store.create("interrupted", Batches.SCHEMA, Map.of(), SpillFormat.PLAIN);
		AtomicBoolean over = new AtomicBoolean();
		Thread victim = new Thread(() -> {
			while (!over.get()) {
				int count = file.batches();
				if (count > 0) {
					file.read(count - 1, Verification.ALWAYS).close();
				}
			}
		});
		List<Throwable> failures = new ArrayList<>();
		victim.setUncaughtExceptionHandler((thread, ex) -> failures.add(ex));
		victim.start();
		Future<?> interrupter = this.pool.submit(() -> {
			while (!over.get()) {
				victim.interrupt();
				Thread.onSpinWait();
			}
		});
		for (RecordBatch batch : source) {
			file.append(batch);
			for (int i = 0; i < file.batches(); i++) {
				assertThat(this.batches.take(file.read(i, Verification.ALWAYS))).containsOnly((long) i);
			}
		}
		file.finish();
		over.set(true);
		victim.join(TimeUnit.SECONDS.toMillis(10));
		interrupter.get(10, TimeUnit.SECONDS);
		assertThat(failures).isEmpty();
		file.delete();
		store.close();
		source.forEach(RecordBatch::close);
	}

}
