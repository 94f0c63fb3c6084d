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
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.spill.FaultyFileSystem.Operation;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests writing and reading of one file.
 */
class SpillFileTests {

	private static final long WINDOW = 4096;

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@TempDir
	Path base;

	private final FaultyFileSystem fileSystem = new FaultyFileSystem();

	private final List<SpillFile> files = new ArrayList<>();

	private Batches batches;

	private FileSpillStore store;

	@BeforeEach
	void createStore() {
		this.batches = new Batches(this.engine.allocator());
		use(ReadMode.MAP);
	}

	@AfterEach
	void deleteFiles() {
		this.files.forEach(SpillFile::delete);
		this.store.close();
		assertThat(this.base).isEmptyDirectory();
	}

	private void use(ReadMode readMode) {
		this.store = new FileSpillStore(() -> this.base, this.engine.allocator(), readMode, this.fileSystem,
				TestFiles.windows(WINDOW));
	}

	private SpillFile create(Schema schema) {
		SpillFile file = this.store.create("test", schema, Map.of(), SpillFormat.PLAIN);
		this.files.add(file);
		return file;
	}

	/**
	 * A finished file of that many batches, of 100 rows each.
	 */
	private SpillFile written(int count) {
		SpillFile file = create(Batches.SCHEMA);
		for (int i = 0; i < count; i++) {
			append(file, this.batches.rows(100, i));
		}
		return file;
	}

	private static void append(SpillFile file, RecordBatch batch) {
		try (batch) {
			file.append(batch);
		}
	}

	private List<Long> read(SpillFile file, int index) {
		return this.batches.take(file.read(index, Verification.ALWAYS));
	}

	private Path path() throws IOException {
		try (Stream<Path> paths = Files.walk(this.base)) {
			return paths.filter((path) -> path.toString().endsWith(".arrows")).findFirst().orElseThrow();
		}
	}

	@ParameterizedTest
	@EnumSource
	void batchesAreReadWhileTheFileIsWrittenAndAfterwards(ReadMode readMode) {
		use(readMode);
		SpillFile file = create(Batches.SCHEMA);
		int count = 50;
		for (int i = 0; i < count; i++) {
			append(file, this.batches.rows(100, i));
			assertThat(file.batches()).isEqualTo(i + 1);
			for (int reader = 0; reader <= i; reader += 7) {
				assertThat(read(file, reader)).hasSize(100).containsOnly((long) reader);
			}
		}
		file.finish();
		assertThat(this.fileSystem.count(Operation.MAP)).matches((maps) -> (maps > 1) == (readMode == ReadMode.MAP));
		for (int i = 0; i < count; i++) {
			assertThat(read(file, i)).hasSize(100).containsOnly((long) i);
		}
	}

	@Test
	void aFinishedFileIsAnArrowStream() throws Exception {
		SpillFile file = written(3);
		file.finish();
		assertThat(file.bytes()).isEqualTo(Files.size(path()));
		try (ArrowStreamReader reader = new ArrowStreamReader(Files.newInputStream(path()), this.engine.allocator())) {
			VectorSchemaRoot root = reader.getVectorSchemaRoot();
			for (int i = 0; i < 3; i++) {
				assertThat(reader.loadNextBatch()).isTrue();
				assertThat(((BigIntVector) root.getVector(0)).get(99)).isEqualTo(i);
			}
			assertThat(reader.loadNextBatch()).isFalse();
			assertThat(reader.bytesRead()).isEqualTo(file.bytes());
		}
	}

	@ParameterizedTest
	@EnumSource
	void batchesOutliveTheirFile(ReadMode readMode) {
		use(readMode);
		SpillFile file = written(3);
		file.finish();
		List<RecordBatch> held = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			held.add(file.read(i, Verification.ALWAYS));
		}
		this.files.remove(file);
		file.delete();
		assertThat(this.batches.take(held)).hasSize(300).contains(0L, 1L, 2L);
	}

	@Test
	void allReadersShareOneMappingOfAWindow() {
		SpillFile file = written(3);
		file.finish();
		int before = MappedWindow.open();
		long allocated = this.engine.allocator().getAllocatedMemory();
		List<RecordBatch> held = new ArrayList<>();
		for (int reader = 0; reader < 10; reader++) {
			held.add(file.read(1, Verification.ALWAYS));
		}
		assertThat(MappedWindow.open() - before).isOne();
		assertThat(this.engine.allocator().getAllocatedMemory()).isEqualTo(allocated);
		held.forEach(RecordBatch::close);
	}

	@Test
	void whenFileHasManyWindowsThenOnlyAFewStayMapped() {
		SpillFile file = written(300);
		file.finish();
		int before = MappedWindow.open();
		int most = 0;
		for (int i : new int[] { 0, 60, 120, 180, 240, 299, 0, 150 }) {
			file.read(i, Verification.ALWAYS).close();
			most = Math.max(most, MappedWindow.open() - before);
		}
		assertThat(most).isEqualTo(FileWindows.MAX_MAPPED);
		RecordBatch held = file.read(0, Verification.ALWAYS);
		for (int i = 1; i < 300; i++) {
			file.read(i, Verification.ALWAYS).close();
		}
		assertThat(MappedWindow.open() - before).isEqualTo(FileWindows.MAX_MAPPED + 1);
		assertThat(this.batches.take(List.of(held))).containsOnly(0L);
	}

	@ParameterizedTest
	@EnumSource
	void batchesWithoutColumnsKeepTheirRowCounts(ReadMode readMode) {
		use(readMode);
		SpillFile file = create(new Schema(List.of()));
		for (int rows : new int[] { 7, 0, 3 }) {
			try (VectorSchemaRoot root = new VectorSchemaRoot(List.of())) {
				root.setRowCount(rows);
				append(file, RecordBatch.copyOf(root, null, this.engine.allocator()));
			}
		}
		file.finish();
		List<Integer> rows = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			try (RecordBatch batch = file.read(i, Verification.ALWAYS)) {
				rows.add(batch.rowCount());
			}
		}
		assertThat(rows).containsExactly(7, 0, 3);
	}

	@Test
	void metadataIsKept() throws Exception {
		Field field = new Field("n", new FieldType(true, new ArrowType.Int(64, true), null, Map.of("unit", "m")), null);
		Schema schema = new Schema(List.of(field), Map.of("origin", "test"));
		SpillFile file = create(schema);
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			append(file, RecordBatch.copyOf(root, null, this.engine.allocator()));
		}
		file.finish();
		try (RecordBatch batch = file.read(0, Verification.ALWAYS)) {
			assertThat(batch.schema()).isEqualTo(schema);
		}
		try (ArrowStreamReader reader = new ArrowStreamReader(Files.newInputStream(path()), this.engine.allocator())) {
			assertThat(reader.getVectorSchemaRoot().getSchema()).isEqualTo(schema);
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenTheFileIsCutThenIntactBatchesAreReadAndOthersAreCorrupted(ReadMode readMode) throws Exception {
		use(readMode);
		SpillFile file = written(3);
		file.finish();
		long end = file.bytes() - 8;
		long third = end - file.length(2);
		for (boolean mapped : new boolean[] { false, true }) {
			if (mapped) {
				file = written(3);
				file.finish();
				read(file, 0);
			}
			for (long size : new long[] { end - 1, end - 400, third + 100, third + 6, third + 4, third + 2, third }) {
				try (FileChannel channel = FileChannel.open(path(), StandardOpenOption.WRITE)) {
					channel.truncate(size);
				}
				SpillFile cut = file;
				assertThat(read(file, 1)).containsOnly(1L);
				assertThatExceptionOfType(SpillCorruptedException.class).isThrownBy(() -> read(cut, 2))
					.withMessageContaining("'test'")
					.withMessageContaining("batch 2 ")
					.withMessageContaining("lance.spill.directories");
				assertThat(Files.size(path())).as("never made longer again").isEqualTo(size);
			}
			this.files.remove(file);
			file.delete();
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenAMappedFileIsCutByPagesThenTheJvmLives(ReadMode readMode) throws Exception {
		use(readMode);
		SpillFile file = create(Batches.SCHEMA);
		append(file, this.batches.rows(20_000, 0));
		append(file, this.batches.rows(20_000, 1));
		file.finish();
		assertThat(read(file, 0)).containsOnly(0L);
		assertThat(read(file, 1)).containsOnly(1L);
		try (FileChannel channel = FileChannel.open(path(), StandardOpenOption.WRITE)) {
			channel.truncate(file.bytes() - 100_000);
		}
		assertThatExceptionOfType(SpillCorruptedException.class).isThrownBy(() -> read(file, 1));
		assertThat(read(file, 0)).containsOnly(0L);
	}

	@ParameterizedTest
	@EnumSource
	void whenABitIsFlippedThenTheBatchIsCorrupted(ReadMode readMode) throws Exception {
		use(readMode);
		SpillFile file = written(3);
		file.finish();
		byte[] good = Files.readAllBytes(path());
		int second = (int) (good.length - 8 - file.length(2) - file.length(1));
		for (int at : new int[] { 0, 4, 20, 100, 400, (int) file.length(1) - 1 }) {
			for (int bit = 0; bit < 8; bit++) {
				byte[] bad = good.clone();
				bad[second + at] ^= (byte) (1 << bit);
				Files.write(path(), bad);
				assertThat(read(file, 0)).containsOnly(0L);
				assertThatExceptionOfType(SpillCorruptedException.class).isThrownBy(() -> read(file, 1))
					.withMessageContaining("batch 1 ");
				assertThat(read(file, 2)).containsOnly(2L);
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenALengthIsDamagedThenTheBatchIsCorruptedAndNothingIsAllocatedForIt(ReadMode readMode) throws Exception {
		use(readMode);
		SpillFile file = written(3);
		file.finish();
		byte[] good = Files.readAllBytes(path());
		int third = (int) (good.length - 8 - file.length(2));
		for (int length : new int[] { 0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 8 }) {
			byte[] bad = good.clone();
			ByteBuffer.wrap(bad).order(ByteOrder.LITTLE_ENDIAN).putInt(third + 4, length);
			Files.write(path(), bad);
			for (Verification verification : Verification.values()) {
				assertThat(this.batches.take(file.read(1, verification))).containsOnly(1L);
				assertThatExceptionOfType(SpillCorruptedException.class).isThrownBy(() -> file.read(2, verification));
			}
			assertThat(this.engine.allocator().getPeakMemoryAllocation()).isLessThan(10 * good.length);
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenTheContentIsReplacedThenItIsCorrupted(ReadMode readMode) throws Exception {
		use(readMode);
		SpillFile file = written(3);
		file.finish();
		read(file, 2);
		byte[] good = Files.readAllBytes(path());
		Path other = path();
		Schema otherSchema = new Schema(List.of(Field.nullable("text", new ArrowType.Utf8())));
		SpillFile replacement = create(otherSchema);
		for (int i = 0; i < 3; i++) {
			try (VectorSchemaRoot root = VectorSchemaRoot.create(otherSchema, this.engine.allocator())) {
				VarCharVector texts = (VarCharVector) root.getVector(0);
				texts.setSafe(0, new byte[2000]);
				root.setRowCount(1);
				append(replacement, RecordBatch.copyOf(root, null, this.engine.allocator()));
			}
		}
		replacement.finish();
		byte[] valid = Files.readAllBytes(Path.of(replacement.toString()));
		assertThat(valid).hasSizeGreaterThan(good.length);
		SpillFile alike = create(Batches.SCHEMA);
		for (int i = 0; i < 3; i++) {
			append(alike, this.batches.rows(100, i + 3));
		}
		alike.finish();
		byte[] others = Files.readAllBytes(Path.of(alike.toString()));
		assertThat(others).hasSameSizeAs(good);
		for (byte[] bad : List.of(others, valid, Arrays.copyOf(valid, good.length), new byte[good.length])) {
			Files.write(other, bad);
			for (int i = 0; i < 3; i++) {
				int batch = i;
				assertThatExceptionOfType(SpillCorruptedException.class).isThrownBy(() -> read(file, batch));
			}
		}
	}

	@Test
	void verificationIsAsOftenAsAsked() throws Exception {
		SpillFile file = written(2);
		file.finish();
		byte[] bytes = Files.readAllBytes(path());
		this.batches.take(file.read(0, Verification.FIRST_READ));
		bytes[bytes.length - 8 - (int) file.length(1) - 1] ^= 1;
		bytes[bytes.length - 8 - 1] ^= 1;
		Files.write(path(), bytes);
		this.batches.take(file.read(0, Verification.FIRST_READ));
		this.batches.take(file.read(1, Verification.NEVER));
		assertThatExceptionOfType(SpillCorruptedException.class)
			.isThrownBy(() -> file.read(1, Verification.FIRST_READ));
		assertThatExceptionOfType(SpillCorruptedException.class).isThrownBy(() -> file.read(0, Verification.ALWAYS));
	}

	@Test
	void whenTheStartOfAMessageIsDamagedThenItIsFoundWithoutVerificationToo() throws Exception {
		SpillFile file = written(1);
		file.finish();
		int start = (int) (Files.size(path()) - 8 - file.length(0));
		for (int i = 0; i < 8; i++) {
			byte[] bytes = Files.readAllBytes(path());
			bytes[start + i] ^= 1;
			Files.write(path(), bytes);
			assertThatExceptionOfType(SpillCorruptedException.class).as("byte %d", i)
				.isThrownBy(() -> file.read(0, Verification.NEVER));
			bytes[start + i] ^= 1;
			Files.write(path(), bytes);
		}
		this.batches.take(file.read(0, Verification.NEVER));
	}

	@ParameterizedTest
	@EnumSource
	void whenTheFileIsReplacedThenItIsCorrupted(ReadMode readMode) throws Exception {
		use(readMode);
		SpillFile file = written(3);
		file.finish();
		Path copy = this.base.resolve("copy");
		Files.copy(path(), copy);
		read(file, 0);
		Path path = path();
		Files.move(copy, path, StandardCopyOption.REPLACE_EXISTING);
		assertThatExceptionOfType(SpillCorruptedException.class).isThrownBy(() -> read(file, 0))
			.withMessageContaining("replaced");
	}

	@ParameterizedTest
	@EnumSource
	void whenTheFileIsRemovedThenItIsGone(ReadMode readMode) throws Exception {
		use(readMode);
		SpillFile file = written(3);
		file.finish();
		Files.delete(path());
		assertThatExceptionOfType(SpillGoneException.class).isThrownBy(() -> read(file, 0))
			.withMessageContaining("'test'")
			.withMessageContaining("lance.spill.directories");
	}

	@Test
	void writesMayBePartial() {
		this.fileSystem.maxWrite(13);
		SpillFile file = written(3);
		file.finish();
		for (int i = 0; i < 3; i++) {
			assertThat(read(file, i)).hasSize(100).containsOnly((long) i);
		}
	}

	@Test
	void aBatchIsOneWrite() {
		SpillFile file = written(1);
		int before = this.fileSystem.count(Operation.WRITE);
		append(file, this.batches.rows(100, 1));
		assertThat(this.fileSystem.count(Operation.WRITE) - before).isOne();
	}

	@Test
	void whenTheDiskIsFullAtAnyByteThenNothingMoreIsTakenAndThereIsNoEndMarker() throws Exception {
		SpillFile whole = create(Batches.SCHEMA);
		append(whole, this.batches.of(0));
		append(whole, this.batches.of(1));
		whole.finish();
		long size = whole.bytes();
		whole.delete();
		this.files.clear();
		for (long room = 0; room < size; room++) {
			this.fileSystem.room(room);
			SpillDiskFullException failure = null;
			SpillFile file = null;
			int appended = 0;
			try {
				file = this.store.create("test", Batches.SCHEMA, Map.of(), SpillFormat.PLAIN);
				append(file, this.batches.of(0));
				appended++;
				append(file, this.batches.of(1));
				appended++;
				file.finish();
			}
			catch (SpillDiskFullException ex) {
				failure = ex;
			}
			assertThat(failure).hasMessageContaining("lance.spill.directories")
				.hasRootCauseMessage("No space left on device");
			if (file != null) {
				SpillFile failed = file;
				assertThat(file.batches()).isEqualTo(appended);
				assertThatIllegalStateException().isThrownBy(() -> append(failed, this.batches.of(2)));
				assertThatIllegalStateException().isThrownBy(failed::finish);
				assertThat(Files.size(path())).isLessThan(size);
				for (int i = 0; i < appended; i++) {
					assertThat(read(file, i)).containsOnly((long) i);
				}
				file.delete();
			}
		}
		this.fileSystem.repair();
	}

	@Test
	void aDiskThatIsFullIsToldApartFromABadOne() throws Exception {
		for (String reason : List.of("No space left on device", "File too large", "Disk quota exceeded")) {
			SpillFile file = written(1);
			this.fileSystem.fail(Operation.WRITE, 0, reason);
			assertThatExceptionOfType(SpillDiskFullException.class).isThrownBy(() -> append(file, this.batches.of(1)))
				.withMessageContaining("'test'")
				.withMessageContaining(reason)
				.withMessageContaining(file.bytes() + " bytes")
				.withMessageContaining("lance.spill.directories")
				.withRootCauseInstanceOf(IOException.class);
			this.fileSystem.repair();
		}
		SpillFile file = written(1);
		this.fileSystem.fail(Operation.WRITE, 0, "Auf dem Datenträger ist kein Platz");
		this.fileSystem.room(1);
		assertThatExceptionOfType(SpillDiskFullException.class).isThrownBy(() -> append(file, this.batches.of(1)));
		this.fileSystem.repair();
		SpillFile bad = written(1);
		this.fileSystem.fail(Operation.WRITE, 0, "Input/output error");
		assertThatExceptionOfType(SpillIoException.class).isThrownBy(() -> append(bad, this.batches.of(1)))
			.withMessageContaining("Input/output error");
	}

	@Test
	void whenAWriteFailsOnceThenTheFileTakesNothingMore() throws Exception {
		SpillFile file = written(1);
		long size = file.bytes();
		this.fileSystem.fail(Operation.WRITE, 0, 1, "Input/output error");
		assertThatExceptionOfType(SpillIoException.class).isThrownBy(() -> append(file, this.batches.of(1)));
		assertThatIllegalStateException().isThrownBy(() -> append(file, this.batches.of(2)));
		assertThatIllegalStateException().isThrownBy(file::finish);
		assertThat(file.batches()).isOne();
		assertThat(read(file, 0)).containsOnly(0L);
		assertThat(Files.size(path())).isEqualTo(size);
	}

	@Test
	void whenClosingFailsThenTheEndMarkerIsRemoved() throws Exception {
		SpillFile file = written(2);
		long size = file.bytes();
		this.fileSystem.fail(Operation.CLOSE, 0, 1, "Input/output error");
		assertThatExceptionOfType(SpillIoException.class).isThrownBy(file::finish);
		assertThat(Files.size(path())).isEqualTo(size);
	}

	@Test
	void whenMappingIsImpossibleThenBatchesAreRead() {
		SpillFile file = written(3);
		file.finish();
		this.fileSystem.fail(Operation.MAP, 0, "Map failed");
		assertThat(read(file, 1)).containsOnly(1L);
		assertThat(MappedWindow.open()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void whenReadingFailsThenNoMemoryIsLost(ReadMode readMode) {
		use(readMode);
		SpillFile file = written(3);
		file.finish();
		for (Operation operation : new Operation[] { Operation.STATE, Operation.OPEN, Operation.READ }) {
			this.fileSystem.fail(Operation.MAP, 0, "Map failed");
			this.fileSystem.fail(operation, 0, "Input/output error");
			assertThatExceptionOfType(SpillIoException.class).as(operation.name())
				.isThrownBy(() -> read(file, 1))
				.withMessageContaining("batch 1 ")
				.withRootCauseInstanceOf(IOException.class);
			assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
			this.fileSystem.repair();
		}
		assertThat(read(file, 1)).containsOnly(1L);
	}

	@Test
	void whenTheAllocatorIsAtItsLimitThenTheReadFailsAndNothingElse() {
		use(ReadMode.READ);
		SpillFile file = written(1);
		this.engine.allocator().setLimit(100);
		assertThatExceptionOfType(SpillIoException.class).isThrownBy(() -> file.read(0, Verification.ALWAYS))
			.withMessageContaining("lance.memory.limit");
		this.engine.allocator().setLimit(Long.MAX_VALUE);
		assertThat(read(file, 0)).containsOnly(0L);
	}

	@Test
	void filesAndDirectoriesArePrivate() throws Exception {
		written(1);
		assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path()))).isEqualTo("rw-------");
		assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path().getParent())))
			.isEqualTo("rwx------");
	}

	@ParameterizedTest
	@EnumSource
	void anInterruptStopsNobody(ReadMode readMode) {
		use(readMode);
		Thread.currentThread().interrupt();
		SpillFile file = written(3);
		this.fileSystem.beforeRead(Thread.currentThread()::interrupt);
		append(file, this.batches.rows(100, 3));
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		for (int i = 0; i < 4; i++) {
			assertThat(read(file, i)).containsOnly((long) i);
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
		}
		file.finish();
		for (int i = 0; i < 4; i++) {
			assertThat(read(file, i)).containsOnly((long) i);
		}
		assertThat(Thread.interrupted()).isTrue();
	}

}
