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

package org.lance.spring.source;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

import org.apache.arrow.compression.CommonsCompressionFactory;
import org.apache.arrow.flatbuf.CompressionType;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.compression.CompressionUtil;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compressed bodies: right, broken, lying, and without their library.
 */
class IpcCompressionTests {

	private static final Schema SCHEMA = new Schema(List.of(Field.nullable("a", new ArrowType.Int(64, true)),
			Field.nullable("b", new ArrowType.Int(64, true))));

	private static final int ROWS = 500;

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@ParameterizedTest
	@EnumSource(names = { "ZSTD", "LZ4_FRAME" })
	void whenBodiesAreCompressedThenBatchesAreNot(CompressionUtil.CodecType codec) {
		byte[] data = compressed(codec);
		IpcDecoder decoder = new IpcDecoder(this.engine.allocator(), IpcTarget.UNKNOWN_SIZE);
		ByteBuffer source = ByteBuffer.wrap(data);
		RecordBatch batch = decoder.decode(source);
		assertThat(batch).isNotNull();
		decoder.decode(source);
		decoder.finish();
		try (batch; OpenBatch open = batch.open(this.engine.allocator())) {
			assertThat(batch.body().getBodyCompression().getCodec()).isEqualTo((byte) -1);
			for (int row = 0; row < ROWS; row++) {
				assertThat(((BigIntVector) open.root().getVector(0)).get(row)).isEqualTo(row / 50);
				assertThat(open.root().getVector(1).isNull(row)).isEqualTo(row % 3 == 0);
			}
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "ZSTD", "LZ4_FRAME" })
	void whenCompressedBytesAreBrokenThenThatIsATypedErrorWithoutALeak(CompressionUtil.CodecType codec) {
		byte[] data = compressed(codec);
		List<byte[]> messages = IpcBytes.messages(data);
		int bodyStart = messages.get(0).length + 8 + metadataLength(messages.get(1));
		Set<String> named = new TreeSet<>();
		for (int i = bodyStart; i < data.length - IpcBytes.END.length; i += 3) {
			byte[] broken = data.clone();
			broken[i] ^= 0x55;
			// Some changes leave other valid values: no checksum is required.
			IpcDecoderTests.Decoded decoded = IpcDecoderTests.decode(broken, 4096, this.engine.allocator());
			assertThat(decoded.failure() == null || decoded.batches() == 0).isTrue();
			if (decoded.failure() != null && decoded.failure().getMessage().contains("ompressed")) {
				named.add(decoded.failure().getMessage().replaceAll(":.*", ""));
			}
		}
		assertThat(named).containsExactly("Column 'a' of batch 0", "Column 'b' of batch 0");
	}

	@Test
	void columnsAreNamedByTheirBuffers() {
		Field number = Field.nullable("number", new ArrowType.Int(32, true));
		Field text = Field.nullable("text", ArrowType.Utf8.INSTANCE);
		Field struct = new Field("struct", FieldType.nullable(ArrowType.Struct.INSTANCE), List.of(number, text));
		Field view = Field.nullable("view", ArrowType.Utf8View.INSTANCE);
		IpcLayout layout = IpcLayout.of(List.of(number, struct, view, view, text));
		assertThat(IntStream.range(0, 18).mapToObj((buffer) -> layout.column(buffer, List.of(3L, 0L)))).containsExactly(
				"number", "number", "struct", "struct", "struct", "struct", "struct", "struct", "view", "view", "view",
				"view", "view", "view", "view", "text", "text", "text");
	}

	@ParameterizedTest
	@EnumSource(names = { "ZSTD", "LZ4_FRAME" })
	void whenTheUncompressedLengthLiesThenThatIsAnError(CompressionUtil.CodecType codec) {
		byte[] data = compressed(codec);
		List<byte[]> messages = IpcBytes.messages(data);
		int bodyStart = messages.get(0).length + 8 + metadataLength(messages.get(1));
		// The first column has no nulls; its validity bits come first.
		long real = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN).getLong(bodyStart);
		assertThat(real).isPositive();
		for (long lie : new long[] { real - 1, real + 1, real + 63, Long.MAX_VALUE, Long.MIN_VALUE, -2, 1L << 50 }) {
			byte[] lying = data.clone();
			ByteBuffer.wrap(lying).order(ByteOrder.LITTLE_ENDIAN).putLong(bodyStart, lie);
			IpcDecoderTests.Decoded decoded = IpcDecoderTests.decode(lying, 4096, this.engine.allocator());
			assertThat(decoded.batches()).as("%d instead of %d", lie, real).isZero();
			assertThat(decoded.failure()).isInstanceOf(MalformedIpcException.class)
				.hasMessageMatching(".*(uncompressed|decompressed).*");
		}
	}

	@Test
	void whenThereIsNoMemoryToDecompressThenTheErrorNamesThePropertyAndNothingLeaks() {
		byte[] data = compressed(CompressionUtil.CodecType.ZSTD);
		for (long limit = 256; limit <= 16_384; limit += 256) {
			try (BufferAllocator limited = this.engine.allocator().newChildAllocator("limited", 0, limit)) {
				IpcDecoderTests.Decoded decoded = IpcDecoderTests.decode(data, 4096, limited);
				if (decoded.failure() != null) {
					assertThat(decoded.failure()).isInstanceOf(IpcMemoryLimitException.class)
						.hasMessageContaining("lance.memory.limit");
				}
			}
		}
	}

	/**
	 * The libraries are optional: the decoder is loaded again by a class loader without
	 * them.
	 */
	@ParameterizedTest
	@EnumSource(names = { "ZSTD", "LZ4_FRAME" })
	void whenTheLibraryIsMissingThenTheErrorNamesTheDependency(CompressionUtil.CodecType codec) throws Exception {
		Class<?> tests = new Without().loadClass(IpcDecoderTests.class.getName());
		java.lang.reflect.Method decode = tests.getDeclaredMethod("decode", byte[].class, int.class,
				BufferAllocator.class);
		decode.setAccessible(true);
		Object decoded = decode.invoke(null, compressed(codec), 100, this.engine.allocator());
		assertThat(decoded.toString()).contains(UnsupportedIpcException.class.getName())
			.contains("'org.apache.arrow:arrow-compression'");
	}

	@Test
	void whenTheCodecIsUnknownThenTheErrorSaysWhatToDo() {
		com.google.flatbuffers.FlatBufferBuilder builder = new com.google.flatbuffers.FlatBufferBuilder();
		int compression = org.apache.arrow.flatbuf.BodyCompression.createBodyCompression(builder, (byte) 9, (byte) 0);
		org.apache.arrow.flatbuf.RecordBatch.startNodesVector(builder, 2);
		org.apache.arrow.flatbuf.FieldNode.createFieldNode(builder, 0, 0);
		org.apache.arrow.flatbuf.FieldNode.createFieldNode(builder, 0, 0);
		int nodes = builder.endVector();
		org.apache.arrow.flatbuf.RecordBatch.startBuffersVector(builder, 4);
		for (int i = 0; i < 4; i++) {
			org.apache.arrow.flatbuf.Buffer.createBuffer(builder, 0, 0);
		}
		int buffers = builder.endVector();
		int table = org.apache.arrow.flatbuf.RecordBatch.createRecordBatch(builder, 0, nodes, buffers, compression, 0);
		byte[] data = new IpcBytes().schema(SCHEMA)
			.raw(IpcBytes.message(builder, table, MessageHeader.RecordBatch, MetadataVersion.V5, 0, new byte[0]))
			.end();
		assertThat(IpcDecoderTests.decode(data, 4096, this.engine.allocator()).failure())
			.isInstanceOf(UnsupportedIpcException.class)
			.hasMessageContaining("codec 9")
			.hasMessageContaining("ZSTD");
	}

	private static int metadataLength(byte[] message) {
		return ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN).getInt(4);
	}

	private static byte[] compressed(CompressionUtil.CodecType codec) {
		byte[] data = new IpcBytes().schema(SCHEMA)
			.batch(SCHEMA, CommonsCompressionFactory.INSTANCE.createCodec(codec), IpcCompressionTests::fill)
			.end();
		assertThat(Arrays.equals(data, new IpcBytes().schema(SCHEMA).batch(SCHEMA, IpcCompressionTests::fill).end()))
			.isFalse();
		assertThat(CompressionType.ZSTD).isEqualTo((byte) 1);
		return data;
	}

	private static void fill(VectorSchemaRoot root) {
		for (int row = 0; row < ROWS; row++) {
			((BigIntVector) root.getVector(0)).setSafe(row, row / 50);
			if (row % 3 != 0) {
				((BigIntVector) root.getVector(1)).setSafe(row, row);
			}
		}
		root.setRowCount(ROWS);
	}

	/**
	 * Loads the room anew, without the optional libraries.
	 */
	private static final class Without extends ClassLoader {

		Without() {
			super(IpcCompressionTests.class.getClassLoader());
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (name.startsWith("com.github.luben.") || name.startsWith("org.apache.commons.compress.")) {
				throw new ClassNotFoundException(name);
			}
			Class<?> known = findLoadedClass(name);
			if (known != null || !name.startsWith("org.lance.spring.source.")) {
				return (known != null) ? known : super.loadClass(name, resolve);
			}
			try (java.io.InputStream code = getResourceAsStream(name.replace('.', '/') + ".class")) {
				byte[] bytes = code.readAllBytes();
				return defineClass(name, bytes, 0, bytes.length);
			}
			catch (java.io.IOException ex) {
				throw new ClassNotFoundException(name, ex);
			}
		}

	}

}
