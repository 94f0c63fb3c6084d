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
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What readers get when somebody damages a file under them: never a short result.
 */
class SpillDamageTests {

	/**
	 * Bytes that a batch has before its metadata: a marker and a length.
	 */
	private static final int PREFIX = 8;

	private static final int ROWS = 100;

	@Order(1)
	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@Order(2)
	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@TempDir
	Path directory;

	private SpillHarness harness;

	/**
	 * A finished spill of three batches on disk.
	 */
	private Spilled spilled(ReadMode mode) throws Exception {
		if (this.harness == null) {
			this.harness = new SpillHarness(this.engine,
					new FileSpillStore(() -> this.directory, this.engine.allocator(), mode), 1);
		}
		ReplaySpill spill = this.harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		List<Long> ends = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			this.harness.write(sender,
					Collections.nCopies(ROWS, (long) i).stream().mapToLong(Long::longValue).toArray());
			ends.add(spill.snapshot().diskBytes());
		}
		EngineExtension.await(sender.finish());
		return new Spilled(spill, newest(), ends);
	}

	private Path newest() throws IOException {
		try (Stream<Path> files = Files.walk(this.directory)) {
			return files.filter((path) -> path.toString().endsWith(OwnedDirectory.FILE_SUFFIX))
				.max(java.util.Comparator.comparingLong((path) -> sequence(path)))
				.orElseThrow();
		}
	}

	private static long sequence(Path file) {
		String name = file.getFileName().toString();
		return Long.parseLong(name.substring(0, name.indexOf('-')));
	}

	/**
	 * Reads until there is nothing more, which must be a failure.
	 * @return the failure
	 */
	private Throwable failureAfter(RecordBatchStream reader, long... batches) throws Exception {
		for (long batch : batches) {
			assertThat(this.harness.next(reader)).hasSize(ROWS).containsOnly(batch);
		}
		Throwable failure = SpillHarness.failure(reader.next());
		reader.close();
		return failure;
	}

	@ParameterizedTest
	@EnumSource
	void whenTheFileIsCutThenReadersGetIntactBatchesAndThenAnError(ReadMode mode) throws Exception {
		for (int cut : new int[] { 0, 2, 4, 6, PREFIX + 40, PREFIX + 600 }) {
			Spilled spilled = spilled(mode);
			RecordBatchStream old = spilled.spill.receiver().read();
			assertThat(this.harness.next(old)).containsOnly(0L);
			long size = spilled.ends.get(1) + cut;
			assertThat(size).isLessThan(spilled.ends.get(2));
			try (FileChannel channel = FileChannel.open(spilled.file, StandardOpenOption.WRITE)) {
				channel.truncate(size);
			}
			assertThat(failureAfter(spilled.spill.receiver().read(), 0, 1)).as("cut at +%d", cut)
				.isInstanceOf(SpillCorruptedException.class)
				.hasMessageContaining(spilled.spill.name())
				.hasMessageContaining("batch 2 ");
			assertThat(failureAfter(old, 1)).isInstanceOf(SpillCorruptedException.class);
			spilled.spill.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenALengthIsDamagedThenReadersGetAnErrorAndNothingIsAllocatedForIt(ReadMode mode) throws Exception {
		for (int length : new int[] { 0, Integer.MAX_VALUE }) {
			Spilled spilled = spilled(mode);
			long peak = this.engine.allocator().getPeakMemoryAllocation();
			overwrite(spilled.file, spilled.ends.get(1) + 4, length);
			assertThat(failureAfter(spilled.spill.receiver().read(), 0, 1)).as("length %d", length)
				.isInstanceOf(SpillCorruptedException.class)
				.hasMessageContaining("batch 2 ");
			assertThat(this.engine.allocator().getPeakMemoryAllocation() - peak).isLessThan(1 << 16);
			spilled.spill.close();
		}
	}

	private static void overwrite(Path file, long position, int value) throws IOException {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
			channel.write(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(0, value), position);
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenABitOfABodyIsFlippedThenTheErrorNamesTheBatch(ReadMode mode) throws Exception {
		Spilled spilled = spilled(mode);
		byte[] bytes = Files.readAllBytes(spilled.file);
		bytes[(int) (spilled.ends.get(1) - 20)] ^= 4;
		Files.write(spilled.file, bytes);
		for (int i = 0; i < 2; i++) {
			assertThat(failureAfter(spilled.spill.receiver().read(), 0)).isInstanceOf(SpillCorruptedException.class)
				.hasMessageContaining("batch 1 ");
		}
		assertThat(this.harness.manager.statistics().failures()).as("once for the spill")
			.containsEntry("corrupted", 1L);
	}

	@ParameterizedTest
	@EnumSource
	void whenTheFileIsRemovedThenNoReaderEndsEarly(ReadMode mode) throws Exception {
		Spilled spilled = spilled(mode);
		RecordBatchStream old = spilled.spill.receiver().read();
		assertThat(this.harness.next(old)).containsOnly(0L);
		Files.delete(spilled.file);
		assertThat(failureAfter(old)).isInstanceOf(SpillGoneException.class).hasMessageContaining(spilled.spill.name());
		assertThat(failureAfter(spilled.spill.receiver().read())).isInstanceOf(SpillGoneException.class);
	}

	@ParameterizedTest
	@EnumSource
	void whenTheFileIsReplacedByAStreamOfAnotherSchemaThenNoBatchIsGiven(ReadMode mode) throws Exception {
		Spilled spilled = spilled(mode);
		Schema other = new Schema(List.of(Field.nullable("text", ArrowType.Utf8.INSTANCE)));
		ReplaySpill replacement = this.harness.manager.createReplaySpill(other, Place.DISK.options());
		SpillSender sender = replacement.sender();
		for (int i = 0; i < 3; i++) {
			try (VectorSchemaRoot root = VectorSchemaRoot.create(other, this.engine.allocator())) {
				((VarCharVector) root.getVector(0)).setSafe(0, new byte[2000]);
				root.setRowCount(1);
				try (RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator())) {
					EngineExtension.await(sender.write(batch));
				}
			}
		}
		EngineExtension.await(sender.finish());
		// Into the same file, and as another file of the same name.
		Files.write(spilled.file, Files.readAllBytes(newest()));
		assertThat(failureAfter(spilled.spill.receiver().read())).isInstanceOf(SpillCorruptedException.class);
		Files.delete(spilled.file);
		Files.copy(newest(), spilled.file);
		assertThat(failureAfter(spilled.spill.receiver().read())).isInstanceOf(SpillCorruptedException.class);
	}

	/**
	 * A finished spill with its file, and where each of the batches ends there.
	 */
	private record Spilled(ReplaySpill spill, Path file, List<Long> ends) {

	}

}
