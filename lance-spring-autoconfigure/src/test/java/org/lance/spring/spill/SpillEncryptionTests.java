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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.spill.FaultyFileSystem.Operation;
import org.lance.spring.spill.FileCipher.Kind;
import org.lance.spring.spill.FileCipher.Part;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests of encrypted spill files.
 */
class SpillEncryptionTests {

	private static final SpillFormat ENCRYPTED = new SpillFormat(SpillCompression.NONE, true);

	private static final String MARKER = "a sentence that must not be found on any disk";

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@TempDir
	Path base;

	private final FaultyFileSystem fileSystem = new FaultyFileSystem();

	private TestFiles files;

	@BeforeEach
	void setUp() {
		this.files = new TestFiles(this.engine.allocator(), this.base, this.fileSystem);
	}

	@AfterEach
	void deleteFiles() {
		this.files.close();
	}

	private SpillFile written(int count) {
		SpillFile file = this.files.create(ENCRYPTED);
		for (int i = 0; i < count; i++) {
			this.files.append(file, this.files.batches.rows(100, i));
		}
		file.finish();
		return file;
	}

	private static Path path(SpillFile file) {
		return Path.of(file.toString());
	}

	private static FileKey key(SpillFile file) {
		Object reader = ReflectionTestUtils.getField(file, "reader");
		return ((FileCipher) ReflectionTestUtils.getField(reader, "cipher")).key();
	}

	@ParameterizedTest
	@EnumSource
	void batchesAreReadWhileAnEncryptedFileIsWrittenAndAfterwards(ReadMode readMode) {
		SpillFile file = this.files.create(Batches.SCHEMA, ENCRYPTED, readMode);
		for (int i = 0; i < 10; i++) {
			this.files.append(file, this.files.batches.rows(1000 * i, i));
			assertThat(this.files.read(file, i)).hasSize(1000 * i);
			assertThat(this.files.read(file, i / 2)).hasSize(1000 * (i / 2)).allMatch(Long.valueOf(i / 2)::equals);
		}
		file.finish();
		for (int i = 0; i < 10; i++) {
			assertThat(this.files.read(file, i)).hasSize(1000 * i).allMatch(Long.valueOf(i)::equals);
		}
		assertThat(file.bytes()).isEqualTo(path(file).toFile().length());
		assertThat(this.fileSystem.count(Operation.MAP)).isZero();
	}

	@Test
	void aLargeBatchIsEncryptedInPiecesAndReadInChunks() {
		int rows = 400_000;
		long[] values = new Random(3).longs(rows).toArray();
		for (SpillFormat format : List.of(ENCRYPTED, new SpillFormat(SpillCompression.zstd(1), true))) {
			SpillFile file = this.files.create(Batches.SCHEMA, format, ReadMode.MAP);
			int before = this.fileSystem.count(Operation.WRITE);
			try (RecordBatch batch = this.files.batches.of(values)) {
				long held = this.engine.allocator().getAllocatedMemory();
				// Without compression there is a piece of memory, and not a batch.
				this.engine.allocator().setLimit(format.isCompressed() ? Long.MAX_VALUE : held + (3 << 20));
				file.append(batch);
				this.engine.allocator().setLimit(Long.MAX_VALUE);
			}
			assertThat(this.fileSystem.count(Operation.WRITE) - before).isBetween(3, 4);
			List<Long> read = this.files.read(file, 0);
			assertThat(read).hasSize(rows);
			for (int i = 0; i < rows; i++) {
				assertThat(read.get(i)).isEqualTo(values[i]);
			}
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void neitherTheDataNorTheirNamesNorTheKeyAreOnDisk(boolean compressed) throws Exception {
		SpillFormat format = new SpillFormat(compressed ? SpillCompression.zstd(1) : SpillCompression.NONE, true);
		Schema schema = new Schema(List.of(Field.nullable("secret_column", new ArrowType.Utf8())));
		SpillFile file = this.files.create(schema, format, ReadMode.MAP);
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			((VarCharVector) root.getVector(0)).setSafe(0, MARKER.getBytes(StandardCharsets.UTF_8));
			root.setRowCount(1);
			this.files.append(file, RecordBatch.copyOf(root, null, this.engine.allocator()));
		}
		file.finish();
		byte[] key = key(file).getEncoded();
		assertThat(key).hasSize(32).isNotEqualTo(new byte[32]);
		try (Stream<Path> all = Files.walk(this.base)) {
			for (Path path : all.filter(Files::isRegularFile).toList()) {
				byte[] bytes = Files.readAllBytes(path);
				assertThat(indexOf(bytes, MARKER.getBytes(StandardCharsets.UTF_8))).as("marker").isNegative();
				assertThat(indexOf(bytes, "secret_column".getBytes(StandardCharsets.UTF_8))).as("name").isNegative();
				assertThat(indexOf(bytes, Arrays.copyOf(key, 8))).as("key").isNegative();
				assertThat(indexOf(bytes, new byte[] { -1, -1, -1, -1 })).as("start of a message").isNegative();
			}
		}
		try (RecordBatch batch = file.read(0, Verification.ALWAYS)) {
			assertThat(batch.rowCount()).isOne();
		}
	}

	private static int indexOf(byte[] bytes, byte[] part) {
		for (int i = 0; i <= bytes.length - part.length; i++) {
			if (Arrays.equals(bytes, i, i + part.length, part, 0, part.length)) {
				return i;
			}
		}
		return -1;
	}

	@Test
	void everyFileHasAKeyOfItsOwn() throws Exception {
		SpillFile one = written(1);
		SpillFile other = written(1);
		assertThat(key(one).getEncoded()).isNotEqualTo(key(other).getEncoded());
		assertThat(Files.readAllBytes(path(one))).hasSameSizeAs(Files.readAllBytes(path(other)))
			.isNotEqualTo(Files.readAllBytes(path(other)));
	}

	@Test
	void theKeyIsWipedWhenTheFileIsDeleted() {
		SpillFile file = written(1);
		FileKey key = key(file);
		assertThat(key.isDestroyed()).isFalse();
		this.files.delete(file);
		assertThat(key.isDestroyed()).isTrue();
		assertThat((byte[]) ReflectionTestUtils.getField(key, "bytes")).isEqualTo(new byte[32]);
		assertThatIllegalStateException().isThrownBy(key::getEncoded);
	}

	@ParameterizedTest
	@EnumSource
	void whenAByteIsChangedThenTheBatchIsCorrupted(Verification verification) throws Exception {
		SpillFile file = written(3);
		byte[] good = Files.readAllBytes(path(file));
		int end = good.length - 24 - (int) file.length(2);
		int start = end - (int) file.length(1);
		for (int at = start; at < end; at += 7) {
			byte[] bad = good.clone();
			bad[at] ^= 1;
			Files.write(path(file), bad);
			assertThatExceptionOfType(SpillCorruptedException.class).isThrownBy(() -> file.read(1, verification))
				.withMessageContaining("batch 1 ");
			assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
		}
		assertThat(this.files.read(file, 0)).containsOnly(0L);
		assertThat(this.files.read(file, 2)).containsOnly(2L);
	}

	@Test
	void whenBatchesAreSwappedThenBothAreCorrupted() throws Exception {
		SpillFile file = written(2);
		byte[] bytes = Files.readAllBytes(path(file));
		int length = (int) file.length(0);
		assertThat(file.length(1)).isEqualTo(length);
		int first = bytes.length - 24 - 2 * length;
		byte[] swapped = bytes.clone();
		System.arraycopy(bytes, first, swapped, first + length, length);
		System.arraycopy(bytes, first + length, swapped, first, length);
		Files.write(path(file), swapped);
		for (int i = 0; i < 2; i++) {
			int batch = i;
			assertThatExceptionOfType(SpillCorruptedException.class).isThrownBy(() -> this.files.read(file, batch));
		}
	}

	@Test
	void whenTheFileIsCutThenIntactBatchesAreReadAndOthersAreCorrupted() throws Exception {
		SpillFile file = written(3);
		long third = file.bytes() - 24 - file.length(2);
		for (long size : new long[] { file.bytes() - 25, third + 1, third }) {
			try (FileChannel channel = FileChannel.open(path(file), StandardOpenOption.WRITE)) {
				channel.truncate(size);
			}
			assertThat(this.files.read(file, 1)).containsOnly(1L);
			assertThatExceptionOfType(SpillCorruptedException.class).isThrownBy(() -> this.files.read(file, 2));
		}
	}

	@Test
	void aChunkVouchesForItsMessage() throws Exception {
		FileCipher cipher = new FileCipher();
		byte[] plain = "hello".getBytes(StandardCharsets.UTF_8);
		byte[] encrypted = new byte[plain.length + FileCipher.TAG];
		Part message = new Part(Kind.BATCH, 48, plain.length);
		cipher.encrypt(message, 48, plain, plain.length, encrypted);
		assertThat(decrypt(cipher, message, encrypted)).isEqualTo(plain);
		for (Part other : List.of(new Part(Kind.DICTIONARY, 48, plain.length), new Part(Kind.BATCH, 56, plain.length),
				new Part(Kind.BATCH, 48, plain.length - 1))) {
			assertThatExceptionOfType(DamagedException.class).isThrownBy(() -> decrypt(cipher, other, encrypted));
		}
		assertThatExceptionOfType(DamagedException.class)
			.isThrownBy(() -> decrypt(new FileCipher(), message, encrypted));
	}

	@Test
	void whenChunksOfAMessageAreSwappedOrLeftOutThenItIsDamaged() throws Exception {
		FileCipher cipher = new FileCipher();
		Part message = new Part(Kind.BATCH, 0, 2 * FileCipher.CHUNK);
		byte[] first = new byte[FileCipher.CHUNK + FileCipher.TAG];
		byte[] second = first.clone();
		byte[] plain = new byte[FileCipher.CHUNK];
		cipher.encrypt(message, 0, plain, plain.length, first);
		cipher.encrypt(message, first.length, plain, plain.length, second);
		assertThat(first).isNotEqualTo(second);
		assertThat(decrypt(cipher, message, first, second)).hasSize(2 * FileCipher.CHUNK).containsOnly(0);
		assertThatExceptionOfType(DamagedException.class).isThrownBy(() -> decrypt(cipher, message, second, first));
		assertThatExceptionOfType(DamagedException.class).isThrownBy(() -> decrypt(cipher, message, first, first));
		Part cut = new Part(Kind.BATCH, 0, FileCipher.CHUNK);
		assertThatExceptionOfType(DamagedException.class).isThrownBy(() -> decrypt(cipher, cut, first));
		Part tail = new Part(Kind.BATCH, first.length, 2 * FileCipher.CHUNK);
		assertThatExceptionOfType(DamagedException.class).isThrownBy(() -> decrypt(cipher, tail, second, first))
			.withMessageContaining("at %d ".formatted(first.length));
	}

	private byte[] decrypt(FileCipher cipher, Part message, byte[]... chunks) throws IOException, DamagedException {
		ByteBuffer all = ByteBuffer.allocate(Arrays.stream(chunks).mapToInt((chunk) -> chunk.length).sum());
		Arrays.stream(chunks).forEach(all::put);
		try (ArrowBuf target = this.engine.allocator().buffer(message.length())) {
			cipher.decrypt(message, (position, bytes) -> {
				// A message elsewhere in the file is given the same bytes.
				int from = (int) (position - message.offset());
				bytes.put(all.array(), from, bytes.remaining());
			}, target);
			byte[] plain = new byte[(int) message.length()];
			target.getBytes(0, plain);
			return plain;
		}
	}

	@Test
	void noNonceIsUsedTwice() {
		FileCipher cipher = new FileCipher();
		byte[] bytes = new byte[64];
		cipher.encrypt(new Part(Kind.SCHEMA, 0, 8), 0, bytes, 8, bytes);
		for (long position : new long[] { 0, 8, 23 }) {
			assertThatIllegalStateException()
				.isThrownBy(() -> cipher.encrypt(new Part(Kind.BATCH, position, 8), position, bytes, 8, bytes));
		}
		cipher.encrypt(new Part(Kind.BATCH, 24, 8), 24, bytes, 8, bytes);
	}

	@Test
	void whenTheAllocatorHasNoRoomThenTheCallFailsAndNothingLeaks() {
		SpillFile file = this.files.create(ENCRYPTED);
		this.files.append(file, this.files.batches.rows(10_000, 1));
		this.engine.allocator().setLimit(1000);
		assertThatExceptionOfType(SpillIoException.class).isThrownBy(() -> this.files.read(file, 0))
			.withMessageContaining("lance.memory.limit");
		assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
		this.engine.allocator().setLimit(Long.MAX_VALUE);
		try (RecordBatch batch = this.files.batches.rows(10_000, 1)) {
			long before = this.engine.allocator().getAllocatedMemory();
			this.engine.allocator().setLimit(before);
			assertThatExceptionOfType(SpillIoException.class).isThrownBy(() -> file.append(batch))
				.withMessageContaining("lance.memory.limit");
			assertThat(this.engine.allocator().getAllocatedMemory()).isEqualTo(before);
			this.engine.allocator().setLimit(Long.MAX_VALUE);
		}
		assertThat(this.files.read(file, 0)).hasSize(10_000);
	}

	@Test
	void whenTheDiskIsFullInTheMiddleOfAPieceThenNothingMoreIsTaken() {
		SpillFile file = this.files.create(ENCRYPTED);
		this.files.append(file, this.files.batches.rows(100, 0));
		this.fileSystem.room(1_500_000);
		try (RecordBatch batch = this.files.batches.rows(400_000, 1)) {
			long before = this.engine.allocator().getAllocatedMemory();
			assertThatExceptionOfType(SpillDiskFullException.class).isThrownBy(() -> file.append(batch));
			assertThat(this.engine.allocator().getAllocatedMemory()).isEqualTo(before);
		}
		this.fileSystem.repair();
		assertThat(file.batches()).isOne();
		assertThat(this.files.read(file, 0)).containsOnly(0L);
		assertThatIllegalStateException().isThrownBy(file::finish);
	}

	@Test
	void whenReadingFailsThenNoMemoryIsLost() {
		SpillFile file = written(2);
		for (Operation operation : new Operation[] { Operation.STATE, Operation.OPEN, Operation.READ }) {
			this.fileSystem.fail(operation, 0, "Input/output error");
			assertThatExceptionOfType(SpillIoException.class).isThrownBy(() -> this.files.read(file, 1))
				.withRootCauseInstanceOf(IOException.class);
			assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
			this.fileSystem.repair();
		}
		assertThat(this.files.read(file, 1)).containsOnly(1L);
	}

}
