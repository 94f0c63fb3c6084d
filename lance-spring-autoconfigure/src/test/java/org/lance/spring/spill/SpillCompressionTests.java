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

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;

import com.github.luben.zstd.Zstd;
import org.apache.arrow.compression.CommonsCompressionFactory;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
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
import org.lance.spring.stream.IpcEncoder;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.WithoutLibrary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests of compressed spill files.
 */
class SpillCompressionTests {

	private static final SpillFormat ZSTD = new SpillFormat(SpillCompression.zstd(1), false);

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@TempDir
	Path base;

	private TestFiles files;

	@BeforeEach
	void setUp() {
		this.files = new TestFiles(this.engine.allocator(), this.base, new LocalFileSystem());
	}

	@AfterEach
	void deleteFiles() {
		this.files.close();
	}

	private RecordBatch random(int rows) {
		return this.files.batches.of(new Random(7).longs(rows).toArray());
	}

	@ParameterizedTest
	@EnumSource
	void batchesAreReadWhileACompressedFileIsWrittenAndAfterwards(ReadMode readMode) {
		SpillFile file = this.files.create(Batches.SCHEMA, ZSTD, readMode);
		for (int i = 0; i < 20; i++) {
			this.files.append(file, this.files.batches.rows(1000, i));
			assertThat(this.files.read(file, i)).hasSize(1000).containsOnly((long) i);
			assertThat(this.files.read(file, i / 2)).containsOnly((long) i / 2);
		}
		file.finish();
		for (int i = 0; i < 20; i++) {
			assertThat(file.length(i)).isLessThan(1000);
			assertThat(this.files.read(file, i)).hasSize(1000).containsOnly((long) i);
		}
	}

	@Test
	void aFinishedCompressedFileIsReadByArrow() throws Exception {
		SpillFile file = this.files.create(ZSTD);
		this.files.append(file, this.files.batches.rows(1000, 1));
		this.files.append(file, random(1000));
		this.files.append(file, this.files.batches.of());
		file.finish();
		try (ArrowStreamReader reader = new ArrowStreamReader(Files.newInputStream(Path.of(file.toString())),
				this.engine.allocator(), CommonsCompressionFactory.INSTANCE)) {
			BigIntVector vector = (BigIntVector) reader.getVectorSchemaRoot().getVector(0);
			assertThat(reader.loadNextBatch()).isTrue();
			assertThat(vector.getValueCount()).isEqualTo(1000);
			assertThat(vector.get(999)).isOne();
			assertThat(reader.loadNextBatch()).isTrue();
			long[] expected = new Random(7).longs(1000).toArray();
			for (int i = 0; i < 1000; i++) {
				assertThat(vector.get(i)).isEqualTo(expected[i]);
			}
			assertThat(reader.loadNextBatch()).isTrue();
			assertThat(reader.getVectorSchemaRoot().getRowCount()).isZero();
			assertThat(reader.loadNextBatch()).isFalse();
			assertThat(reader.bytesRead()).isEqualTo(file.bytes());
		}
		assertThat(this.files.read(file, 1)).containsExactlyElementsOf(new Random(7).longs(1000).boxed().toList());
	}

	@Test
	void whatDoesNotGetSmallerIsStoredAsItIs() throws Exception {
		SpillFile plain = this.files.create(SpillFormat.PLAIN);
		this.files.append(plain, random(4096));
		SpillFile file = this.files.create(ZSTD);
		this.files.append(file, random(4096));
		assertThat(this.files.read(file, 0)).containsExactlyElementsOf(this.files.read(plain, 0));
		byte[] written = Files.readAllBytes(Path.of(file.toString()));
		ByteBuffer bytes = ByteBuffer.wrap(written).order(ByteOrder.LITTLE_ENDIAN);
		int data = written.length - 4096 * Long.BYTES;
		assertThat(bytes.getLong(data - Long.BYTES)).isEqualTo(-1);
		assertThat(bytes.getLong(data)).isEqualTo(new Random(7).nextLong());
	}

	@Test
	void aBodyWithoutBytesIsNotCompressed() {
		try (RecordBatch batch = this.files.batches.of();
				BodyCompressor compressor = new BodyCompressor(1);
				ScratchMemory scratch = new ScratchMemory(this.engine.allocator())) {
			assertThat(compressor.compress(batch.body(), scratch)).isEqualTo(new IpcEncoder.Body(batch.body(), 0));
		}
	}

	/**
	 * Readers in other languages take an empty buffer for one without a prefix.
	 */
	@Test
	void emptyBuffersOfACompressedBodyHaveNoPrefix() {
		Schema texts = new Schema(List.of(Field.nullable("text", new ArrowType.Utf8())));
		try (VectorSchemaRoot root = VectorSchemaRoot.create(texts, this.engine.allocator())) {
			assertThat(compressedLengths(RecordBatch.copyOf(root, null, this.engine.allocator()))).as("no rows")
				.contains(0L)
				.anyMatch((length) -> length > 0);
			VarCharVector vector = (VarCharVector) root.getVector(0);
			for (int i = 0; i < 100; i++) {
				vector.setSafe(i, new byte[0]);
			}
			root.setRowCount(100);
			assertThat(compressedLengths(RecordBatch.copyOf(root, null, this.engine.allocator()))).as("empty texts")
				.endsWith(0L)
				.anyMatch((length) -> length > 0);
		}
		assertThat(compressedLengths(this.files.batches.rows(100, 0))).as("no nulls").hasSize(2);
	}

	/**
	 * Returns the lengths that the message of a batch says its buffers have, each checked
	 * for its prefix.
	 */
	private List<Long> compressedLengths(RecordBatch taken) {
		try (RecordBatch batch = taken;
				MessageEncoder encoder = new MessageEncoder(batch.schema(), ZSTD, this.engine.allocator(), () -> 0)) {
			encoder.schema(Map.of());
			IpcEncoder.Message message = encoder.batch(batch);
			ByteBuffer bytes = ByteBuffer.allocate((int) message.length()).order(ByteOrder.LITTLE_ENDIAN);
			message.buffers().forEach((buffer) -> bytes.put(buffer.duplicate()));
			ByteBuffer metadata = bytes.duplicate().position(8).slice();
			org.apache.arrow.flatbuf.RecordBatch header = (org.apache.arrow.flatbuf.RecordBatch) Message
				.getRootAsMessage(metadata)
				.header(new org.apache.arrow.flatbuf.RecordBatch());
			assertThat(header.compression()).isNotNull();
			List<Long> lengths = new ArrayList<>();
			for (int i = 0; i < header.buffersLength(); i++) {
				long length = header.buffers(i).length();
				lengths.add(length);
				if (length > 0) {
					assertThat(length).as("length of buffer %d", i).isGreaterThan(Long.BYTES);
					long prefix = bytes.getLong(message.metadataLength() + (int) header.buffers(i).offset());
					assertThat(prefix).as("prefix of buffer %d", i).matches((value) -> value == -1 || value > 0);
				}
			}
			return lengths;
		}
	}

	/**
	 * The first two batches are tries, whatever they take.
	 */
	@Test
	void aFileMayHaveBatchesOfBothKinds() throws Exception {
		SpillFile file = this.files.create(new SpillFormat(SpillCompression.adaptive(1), false));
		for (int i = 0; i < 2; i++) {
			this.files.append(file, this.files.batches.rows(10_000, i));
		}
		file.finish();
		assertThat(file.length(0)).isGreaterThan(80_000);
		assertThat(file.length(1)).isLessThan(10_000);
		assertThat(this.files.read(file, 0)).hasSize(10_000).containsOnly(0L);
		assertThat(this.files.read(file, 1)).hasSize(10_000).containsOnly(1L);
		try (ArrowStreamReader reader = new ArrowStreamReader(Files.newInputStream(Path.of(file.toString())),
				this.engine.allocator(), CommonsCompressionFactory.INSTANCE)) {
			for (int i = 0; i < 2; i++) {
				assertThat(reader.loadNextBatch()).isTrue();
				assertThat(((BigIntVector) reader.getVectorSchemaRoot().getVector(0)).get(9_999)).isEqualTo(i);
			}
		}
	}

	@Test
	void aHigherLevelMakesSmallerFiles() {
		long[] phrases = new Random(1).longs(4096).toArray();
		long[] values = new long[50_000];
		Random random = new Random(2);
		for (int i = 0; i < values.length; i++) {
			values[i] = phrases[(i % 5 == 0) ? random.nextInt(4096) : i % 4096];
		}
		long[] lengths = new long[2];
		for (int i = 0; i < 2; i++) {
			SpillFile file = this.files.create(new SpillFormat(SpillCompression.zstd((i == 0) ? 1 : 19), false));
			this.files.append(file, this.files.batches.of(values));
			lengths[i] = file.length(0);
			assertThat(this.files.read(file, 0)).hasSize(values.length).last().isEqualTo(values[values.length - 1]);
		}
		assertThat(lengths[0]).isGreaterThan(lengths[1]);
	}

	@Test
	void levelsAreThoseOfTheLibrary() {
		assertThat(SpillCompression.MIN_LEVEL).isEqualTo(Zstd.minCompressionLevel());
		assertThat(SpillCompression.MAX_LEVEL).isEqualTo(Zstd.maxCompressionLevel());
		for (int level : new int[] { SpillCompression.MIN_LEVEL - 1, SpillCompression.MAX_LEVEL + 1 }) {
			assertThatIllegalArgumentException().isThrownBy(() -> SpillCompression.zstd(level))
				.withMessageContaining(String.valueOf(level));
		}
		assertThat(SpillCompression.zstd(SpillCompression.MIN_LEVEL).level()).isEqualTo(SpillCompression.MIN_LEVEL);
		assertThat(SpillCompression.zstd(SpillCompression.MAX_LEVEL).level()).isEqualTo(SpillCompression.MAX_LEVEL);
	}

	@ParameterizedTest
	@EnumSource
	void whenAByteOfACompressedBatchIsChangedThenItIsCorrupted(Verification verification) throws Exception {
		SpillFile file = this.files.create(ZSTD);
		this.files.append(file, this.files.batches.rows(1000, 0));
		this.files.append(file, random(100));
		file.finish();
		Path path = Path.of(file.toString());
		byte[] good = Files.readAllBytes(path);
		int end = good.length - 8;
		int start = end - (int) (file.length(0) + file.length(1));
		for (int at = start; at < end; at += 7) {
			byte[] bad = good.clone();
			bad[at] ^= 0x55;
			Files.write(path, bad);
			int batch = (at < end - file.length(1)) ? 0 : 1;
			assertThatExceptionOfType(SpillCorruptedException.class)
				.isThrownBy(() -> file.read(batch, verification).close())
				.withMessageContaining("batch " + batch + " ");
			assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
		}
		Files.write(path, good);
		assertThat(this.files.read(file, 0)).containsOnly(0L);
	}

	@Test
	void whenTheAllocatorHasNoRoomToCompressThenTheWriteFailsAndNothingLeaks() {
		SpillFile file = this.files.create(ZSTD);
		this.files.append(file, this.files.batches.rows(100, 0));
		try (RecordBatch batch = random(10_000)) {
			long before = this.engine.allocator().getAllocatedMemory();
			this.engine.allocator().setLimit(before + 50_000);
			assertThatExceptionOfType(SpillIoException.class).isThrownBy(() -> file.append(batch))
				.withMessageContaining("batch 1 ")
				.withMessageContaining("lance.memory.limit");
			assertThat(this.engine.allocator().getAllocatedMemory()).isEqualTo(before);
			this.engine.allocator().setLimit(Long.MAX_VALUE);
		}
		assertThat(file.batches()).isOne();
		assertThat(this.files.read(file, 0)).hasSize(100);
	}

	@Test
	void whenTheAllocatorHasNoRoomToDecompressThenTheReadFailsAndNothingLeaks() {
		SpillFile file = this.files.create(ZSTD);
		this.files.append(file, this.files.batches.rows(10_000, 1));
		for (long limit : new long[] { 0, 1000, 50_000 }) {
			this.engine.allocator().setLimit(limit);
			assertThatExceptionOfType(SpillIoException.class).isThrownBy(() -> this.files.read(file, 0))
				.withMessageContaining("lance.memory.limit")
				.withMessageContaining("needs 8");
			assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
		}
		this.engine.allocator().setLimit(Long.MAX_VALUE);
		assertThat(this.files.read(file, 0)).containsOnly(1L);
	}

	@Test
	void batchesOfEmptyColumnsAndOfNoneAreKept() {
		SpillFile none = this.files.create(new Schema(List.of()), ZSTD, ReadMode.MAP);
		try (VectorSchemaRoot root = new VectorSchemaRoot(List.of())) {
			root.setRowCount(7);
			this.files.append(none, RecordBatch.copyOf(root, null, this.engine.allocator()));
		}
		Schema schema = new Schema(List.of(Field.nullable("text", new ArrowType.Utf8())));
		SpillFile empty = this.files.create(schema, ZSTD, ReadMode.MAP);
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			this.files.append(empty, RecordBatch.copyOf(root, null, this.engine.allocator()));
		}
		try (RecordBatch seven = none.read(0, Verification.ALWAYS);
				RecordBatch zero = empty.read(0, Verification.ALWAYS)) {
			assertThat(seven.rowCount()).isEqualTo(7);
			assertThat(zero.rowCount()).isZero();
		}
	}

	@Test
	void theMemoryOfTheCodecIsGivenBackWhenTheFileIsFinishedOrFailedOrDeleted() {
		int before = ZstdCodec.open();
		SpillFile finished = this.files.create(ZSTD);
		SpillFile failed = this.files.create(ZSTD);
		SpillFile deleted = this.files.create(ZSTD);
		List.of(finished, failed, deleted).forEach((file) -> this.files.append(file, this.files.batches.rows(100, 0)));
		assertThat(ZstdCodec.open()).isEqualTo(before + 3);
		finished.finish();
		assertThat(ZstdCodec.open()).isEqualTo(before + 2);
		try (RecordBatch batch = this.files.batches.rows(100, 0)) {
			this.engine.allocator().setLimit(this.engine.allocator().getAllocatedMemory());
			assertThatExceptionOfType(SpillIoException.class).isThrownBy(() -> failed.append(batch));
			this.engine.allocator().setLimit(Long.MAX_VALUE);
		}
		assertThat(ZstdCodec.open()).isEqualTo(before + 1);
		this.files.delete(deleted);
		assertThat(ZstdCodec.open()).isEqualTo(before);
	}

	@Test
	void aClosedCodecHoldsNoNativeMemory() {
		ZstdCodec codec = new ZstdCodec(1);
		codec.close();
		try (ArrowBuf buffer = this.engine.allocator().buffer(1024)) {
			assertThatIllegalStateException()
				.isThrownBy(() -> codec.compress(buffer.memoryAddress(), 8, buffer.memoryAddress() + 512, 512))
				.withMessageContaining("closed");
		}
	}

	@Test
	void manyFramesMakeOneWhole() throws Exception {
		byte[] frame = Zstd.compress(new byte[1000]);
		try (ArrowBuf buffer = this.engine.allocator().buffer(4096)) {
			buffer.setBytes(0, frame);
			buffer.setBytes(frame.length, frame);
			ZstdCodec.decompress(buffer.memoryAddress(), 2 * frame.length, buffer.memoryAddress() + 2048, 2000);
			assertThatExceptionOfType(DamagedException.class).isThrownBy(() -> ZstdCodec
				.decompress(buffer.memoryAddress(), 2 * frame.length, buffer.memoryAddress() + 2048, 2001));
		}
		long gigabyte = 1L << 30;
		assertThat(ZstdCodec.bound(3 * gigabyte + 5))
			.isEqualTo(3 * Zstd.compressBound(gigabyte) + Zstd.compressBound(5));
	}

	/**
	 * The library is optional: the manager is loaded again by a class loader without it.
	 */
	@Test
	void whenTheLibraryIsMissingThenTheErrorNamesTheDependency() throws Exception {
		ClassLoader loader = new WithoutLibrary("com.github.luben.");
		Class<?> compressions = loader.loadClass(SpillCompression.class.getName());
		Object builder = loader.loadClass(SpillManager.class.getName())
			.getMethod("builder", BufferAllocator.class, ExecutorService.class)
			.invoke(null, this.engine.allocator(), this.engine.pool(1));
		Method compression = builder.getClass().getMethod("compression", compressions);
		compression.invoke(builder, compressions.getField("NONE").get(null));
		Object zstd = compressions.getMethod("zstd", int.class).invoke(null, 1);
		assertThatExceptionOfType(InvocationTargetException.class).isThrownBy(() -> compression.invoke(builder, zstd))
			.havingCause()
			.isInstanceOf(IllegalStateException.class)
			.withMessageContaining("'com.github.luben:zstd-jni'");
	}

}
