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
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.spill.FaultyFileSystem.Operation;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.Failures;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Does the same over and over, while each time another call to the disk fails: the first
 * of its kind, the second, and so on. Whatever fails, no reader gets less than was
 * written without being told, and nothing is left.
 */
class FaultInjectionTests {

	/**
	 * The first two of the batches.
	 */
	private static final long LIMIT = 40_000;

	private static final List<Kind> KINDS = List.of(new Kind(Place.DISK, 1, ReadMode.MAP, true),
			new Kind(Place.DISK, 1, ReadMode.MAP, false), new Kind(Place.SWITCHING, 1, ReadMode.READ, true),
			new Kind(Place.SWITCHING, 2, ReadMode.MAP, true));

	private static final String REASON = "Input/output error";

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@TempDir
	Path folder;

	private int runs;

	@ParameterizedTest
	@EnumSource
	void whateverFailsNoReaderIsWrongAndNothingIsLeft(Operation operation) throws Exception {
		int reached = 0;
		for (Kind kind : KINDS) {
			int at = 0;
			Run run;
			do {
				run = new Run(operation, at++, kind);
				run.run();
				reached += run.reached ? 1 : 0;
			}
			while (run.reached);
		}
		assertThat(reached).as("runs in which something failed").isPositive();
	}

	/**
	 * What differs between runs.
	 *
	 * @param place where the spill lives
	 * @param directories how many there are
	 * @param readMode how files are read
	 * @param once whether one call fails, or all later ones of its kind too
	 */
	private record Kind(Place place, int directories, ReadMode readMode, boolean once) {

	}

	/**
	 * One spill of five batches that is read before, while and after it is written.
	 */
	private final class Run {

		private final FaultyFileSystem fileSystem = new FaultyFileSystem();

		private final DictionaryBatches batches = new DictionaryBatches(FaultInjectionTests.this.engine.allocator());

		private final List<Path> bases;

		private final SpillManager manager;

		private final ByteBudget kept = new ByteBudget(2000);

		private final Operation operation;

		private final int at;

		private final Kind kind;

		private final List<CompletionStage<List<RecordBatch>>> readers = new ArrayList<>();

		private boolean reached;

		private boolean survived;

		Run(Operation operation, int at, Kind kind) {
			Path base = FaultInjectionTests.this.folder.resolve("run-" + FaultInjectionTests.this.runs++);
			this.bases = IntStream.range(0, kind.directories()).mapToObj((i) -> base.resolve("d" + i)).toList();
			this.operation = operation;
			this.at = at;
			this.kind = kind;
			if (operation == Operation.TRUNCATE) {
				// A file is cut if its end could not be written.
				this.fileSystem.fail(Operation.CLOSE, 0, REASON);
			}
			this.fileSystem.fail(operation, at, kind.once() ? 1 : Integer.MAX_VALUE, REASON);
			SpillDirectories where = SpillDirectories.of(this.fileSystem,
					this.bases.stream().<Supplier<Path>>map((path) -> () -> path).toList(), new SpaceFloor(1, 0),
					InstantSource.system(), Duration.ofMinutes(1));
			// On this thread: the order of calls is the same in each run.
			this.manager = SpillManager.builder(FaultInjectionTests.this.engine.allocator(), Runnable::run, () -> false)
				.build(new FileSpillStore(where, new ByteBudget(ByteBudget.UNLIMITED),
						FaultInjectionTests.this.engine.allocator(), kind.readMode(), SpareThreads.NONE,
						this.fileSystem, () -> new WindowPolicy(512, this.kept)));
		}

		void run() throws Exception {
			int channels = LocalChannel.open();
			int mappings = MappedWindow.open();
			ReplaySpill spill = this.manager.createReplaySpill(DictionaryBatches.SCHEMA,
					SpillOptions.DEFAULTS.withMemoryLimit((this.kind.place() == Place.DISK) ? 0 : LIMIT));
			boolean written = write(spill);
			readers(spill);
			boolean complete = written && spill.snapshot().state() == State.FINISHED;
			this.survived = check(written);
			this.reached = this.fileSystem.count(this.operation) > this.at;
			if (complete && this.operation != Operation.DELETE) {
				this.fileSystem.repair();
				this.readers.clear();
				readers(spill);
				assertThat(check(true)).as("can be read again once repaired: %s", this).isTrue();
			}
			if (complete && !this.reached && this.kind.readMode() == ReadMode.MAP) {
				assertThat(this.kept.used()).as("kept mappings before the end: %s", this).isPositive();
			}
			spill.close();
			EngineExtension.await(spill.closed());
			this.reached |= this.fileSystem.count(this.operation) > this.at;
			assertThat(this.survived || mayHarm()).as("does no harm: %s", this).isTrue();
			this.fileSystem.repair();
			this.manager.close();
			EngineExtension.await(this.manager.closed());
			assertNothingLeft(channels, mappings);
		}

		/**
		 * Tells whether a writer or reader may have noticed.
		 */
		private boolean mayHarm() {
			boolean another = this.kind.once() && this.bases.size() > 1;
			return switch (this.operation) {
				case DELETE, LIST, MAP, SIZE, VOLUME -> false;
				case CREATE, CREATE_DIRECTORY, LOCK -> this.reached && !another;
				case TRUNCATE -> true;
				default -> this.reached;
			};
		}

		/**
		 * Writes everything.
		 * @return whether nothing failed
		 */
		private boolean write(ReplaySpill spill) throws Exception {
			SpillSender sender = spill.sender();
			List<CompletionStage<Void>> stages = new ArrayList<>();
			readers(spill);
			List<RecordBatch> all = this.batches.five();
			for (int i = 0; i < all.size(); i++) {
				stages.add(sender.write(all.get(i)));
				if (i == 0) {
					assertThat(spill.snapshot().state()).as("%s", this)
						.isIn((this.kind.place() == Place.DISK) ? List.of(State.ON_DISK, State.FAILED)
								: List.of(State.IN_MEMORY));
				}
				if (i == 2) {
					readers(spill);
				}
			}
			all.forEach(RecordBatch::close);
			stages.add(sender.finish());
			boolean failed = false;
			for (CompletionStage<Void> stage : stages) {
				Throwable failure = EngineExtension.await(stage.handle((value, ex) -> ex));
				if (failure != null) {
					assertTyped(failure);
				}
				assertThat(failed && failure == null).as("a call succeeds after one that failed: %s", this).isFalse();
				failed = failure != null;
			}
			return !failed;
		}

		private void readers(ReplaySpill spill) {
			this.readers.add(spill.receiver().read().collect());
		}

		/**
		 * Looks at what readers got.
		 * @return whether nobody noticed that something failed
		 */
		private boolean check(boolean written) throws Exception {
			boolean all = written;
			for (CompletionStage<List<RecordBatch>> reader : this.readers) {
				Throwable failure = EngineExtension.await(reader.handle((value, ex) -> ex));
				if (failure != null) {
					assertTyped(failure);
					all = false;
				}
				else {
					List<String> values = EngineExtension.await(reader).stream().map(this.batches::take).toList();
					assertThat(written).as("an end although it was not written: %s", this).isTrue();
					assertThat(values).as("%s", this).isEqualTo(DictionaryBatches.values());
				}
			}
			return all;
		}

		private void assertTyped(Throwable failure) {
			Assertions.assertThat(Failures.unwrap(failure))
				.as("%s", this)
				.isInstanceOf(SpillException.class)
				.isNotInstanceOf(SpillClosedException.class)
				.hasRootCauseInstanceOf(IOException.class)
				.hasRootCauseMessage(REASON);
		}

		private void assertNothingLeft(int channels, int mappings) throws IOException {
			SpillStatistics left = this.manager.statistics();
			assertThat(FaultInjectionTests.this.engine.allocator().getAllocatedMemory()).as("memory: %s", this)
				.isZero();
			assertThat(left.memoryUsed()).as("budget: %s", this).isZero();
			assertThat(left.diskUsed()).as("quota: %s", this).isZero();
			assertThat(left.files()).as("counted files: %s", this).isZero();
			assertThat(LocalChannel.open()).as("open files: %s", this).isEqualTo(channels);
			assertThat(MappedWindow.open()).as("mappings: %s", this).isEqualTo(mappings);
			assertThat(this.kept.used()).as("kept mappings: %s", this).isZero();
			for (Path base : this.bases) {
				if (Files.exists(base)) {
					try (Stream<Path> entries = Files.list(base)) {
						assertThat(entries).as("files: %s", this).isEmpty();
					}
				}
			}
		}

		@Override
		public String toString() {
			return "%s %d, %s".formatted(this.operation, this.at, this.kind);
		}

	}

}
