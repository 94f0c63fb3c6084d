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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import com.google.flatbuffers.FlatBufferBuilder;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.Type;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.UnionMode;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.lance.spring.stream.ArrowDataException;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.GoldenFiles;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the decoder takes, refuses and says, byte by byte.
 */
class IpcDecoderTests {

	private static final Schema INTS = new Schema(List.of(Field.nullable("n", new ArrowType.Int(32, true))));

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	/**
	 * Scenario: data cut at any byte, also between messages and 1 to 3 bytes behind.
	 */
	@Test
	void whenStreamIsCutAnywhereThenBatchesBeforeTheCutAndOneTruncationArrive() throws Exception {
		checkCuts(threeBatches(), true, 1);
	}

	@Test
	void whenFileIsCutAnywhereThenBatchesBeforeTheCutAndOneTruncationArrive() throws Exception {
		checkCuts(threeBatchFile(), false, 1);
	}

	@Test
	void whenDictionaryStreamIsCutThenOneTruncationArrives() throws Exception {
		byte[] stream = java.nio.file.Files.readAllBytes(GoldenFiles.stream("generated_dictionary"));
		checkCuts(stream, true, 13);
	}

	private void checkCuts(byte[] data, boolean stream, int step) {
		List<Integer> ends = new ArrayList<>();
		int start = stream ? 0 : 8;
		for (byte[] message : IpcBytes.messages(Arrays.copyOfRange(data, start, data.length))) {
			start += message.length;
			if (IpcBytes.headerType(message) == MessageHeader.RecordBatch) {
				ends.add(start);
			}
		}
		assertThat(ends).isNotEmpty();
		for (int cut = 0; cut < data.length; cut += step) {
			int length = cut;
			Decoded decoded = decode(Arrays.copyOf(data, cut), 1 + cut % 64);
			long complete = ends.stream().filter((end) -> end <= length).count();
			assertThat(decoded.batches).as("batches before the cut at %d", cut).isEqualTo(complete);
			assertThat(decoded.failure).as("failure of the cut at %d", cut)
				.isInstanceOfSatisfying(TruncatedIpcException.class,
						(ex) -> assertThat(ex.getOffset()).isEqualTo(length));
		}
		assertThat(decode(data, 7).failure).isNull();
	}

	@Test
	void whenLengthsHaveNoMarkerThenTheOldFormIsRead() {
		List<byte[]> messages = IpcBytes.messages(threeBatches());
		IpcBytes legacy = new IpcBytes();
		messages.forEach((message) -> legacy.raw(Arrays.copyOfRange(message, 4, message.length)));
		Decoded decoded = decode(legacy.raw(new byte[4]).toByteArray(), 3);
		assertThat(decoded.failure).isNull();
		assertThat(decoded.batches).isEqualTo(3);
	}

	/**
	 * The Rust writer pads the magic to 64 bytes unless told otherwise.
	 */
	@Test
	void whenTheMagicOfAFileIsPaddedTo64BytesThenItIsRead() {
		byte[] file = threeBatchFile();
		byte[] padded = new IpcBytes().raw(Arrays.copyOf(file, 8))
			.raw(new byte[56])
			.raw(Arrays.copyOfRange(file, 8, file.length))
			.toByteArray();
		Decoded decoded = decode(padded, 5);
		assertThat(decoded.failure).isNull();
		assertThat(decoded.batches).isEqualTo(3);
	}

	@Test
	void whenBytesFollowTheEndMarkerThenThatIsAnError() {
		byte[] two = new IpcBytes().raw(threeBatches()).raw(threeBatches()).toByteArray();
		Decoded decoded = decode(two, 64);
		assertThat(decoded.batches).isEqualTo(3);
		assertThat(decoded.failure).isInstanceOf(MalformedIpcException.class)
			.hasMessageContaining("behind the end marker");
	}

	@Test
	void whenTheDataAreSomethingElseThenTheMessageSaysWhat() {
		Map<String, String> others = Map.of("PAR1....", "Parquet", "{\"a\":1}", "JSON", "PK\u0003\u0004zip", "zip",
				"FEA1....", "Feather", "a,b,c\n1,2", "61 2c 62 2c");
		others.forEach((data, expected) -> assertThat(decode(data.getBytes(StandardCharsets.UTF_8), 2).failure)
			.isInstanceOf(MalformedIpcException.class)
			.hasMessageContaining(expected));
		assertThat(decode(new byte[] { 0x1f, (byte) 0x8b, 8, 0 }, 4).failure).hasMessageContaining("gzip");
		assertThat(decode(new byte[0], 1).failure).isInstanceOf(TruncatedIpcException.class)
			.hasMessageContaining("no bytes at all");
	}

	/**
	 * Scenario: big-endian data must never be taken as native ones.
	 */
	@Test
	void whenTheSchemaSaysBigEndianThenEveryGoldenTableIsRefused() throws Exception {
		for (String name : GoldenFiles.names()) {
			List<byte[]> messages = IpcBytes.messages(java.nio.file.Files.readAllBytes(GoldenFiles.stream(name)));
			Schema schema = messageSchema(messages.get(0));
			IpcBytes big = new IpcBytes().raw(IpcBytes.schemaMessage(schema, Endianness.Big, MetadataVersion.V5));
			messages.subList(1, messages.size()).forEach(big::raw);
			Decoded decoded = decode(big.end(), 1000);
			assertThat(decoded.batches).as(name).isZero();
			assertThat(decoded.failure).as(name)
				.isInstanceOf(UnsupportedIpcException.class)
				.hasMessageContaining("big-endian");
		}
	}

	@Test
	void whenTheFormatIsTooOldThenTheMessageSaysSo() {
		assertThat(failureOf(IpcBytes.schemaMessage(INTS, Endianness.Little, MetadataVersion.V3)))
			.isInstanceOf(UnsupportedIpcException.class)
			.hasMessageContaining("V3");
		Decoded v4 = decode(
				new IpcBytes().raw(IpcBytes.schemaMessage(INTS, Endianness.Little, MetadataVersion.V4)).end(), 9);
		assertThat(v4.failure).isNull();
	}

	@Test
	void whenUnionsHaveTheOldLayoutThenTheMessageNamesTheField() {
		Field union = new Field("u", FieldType.nullable(new ArrowType.Union(UnionMode.Sparse, new int[] { 0 })),
				List.of(Field.nullable("i", new ArrowType.Int(32, true))));
		Schema schema = new Schema(
				List.of(new Field("s", FieldType.nullable(ArrowType.Struct.INSTANCE), List.of(union))));
		assertThat(failureOf(IpcBytes.schemaMessage(schema, Endianness.Little, MetadataVersion.V4)))
			.isInstanceOf(UnsupportedIpcException.class)
			.hasMessageContaining("'s.u'");
	}

	@Test
	void whenATypeIsUnknownToArrowJavaThenTheMessageNamesTheField() {
		for (ArrowType type : List.of(new ArrowType.Decimal(5, 2, 32), new ArrowType.Int(24, true),
				new ArrowType.Time(org.apache.arrow.vector.types.TimeUnit.SECOND, 64))) {
			Field list = new Field("l", FieldType.nullable(new ArrowType.List()),
					List.of(Field.nullable("item", type)));
			assertThat(
					failureOf(IpcBytes.schemaMessage(new Schema(List.of(list)), Endianness.Little, MetadataVersion.V5)))
				.as("%s", type)
				.isInstanceOf(UnsupportedIpcException.class)
				.hasMessageContaining("'l.item'");
		}
	}

	@Test
	void whenChildrenDoNotFitTheTypeThenTheMessageNamesTheField() {
		List<Field> wrong = List.of(new Field("x", FieldType.nullable(new ArrowType.List()), List.of()),
				new Field("x", FieldType.nullable(new ArrowType.Int(32, true)),
						List.of(Field.nullable("c", new ArrowType.Int(8, true)))),
				new Field("x", FieldType.nullable(new ArrowType.Map(false)),
						List.of(Field.nullable("entries", new ArrowType.Int(8, true)))),
				new Field("x", FieldType.nullable(new ArrowType.Union(UnionMode.Dense, new int[] { 0, 1 })),
						List.of(Field.nullable("c", new ArrowType.Int(8, true)))));
		wrong.forEach((field) -> assertThat(
				failureOf(IpcBytes.schemaMessage(new Schema(List.of(field)), Endianness.Little, MetadataVersion.V5)))
			.as("%s", field)
			.isInstanceOf(ArrowDataException.class)
			.hasMessageContaining("'x'"));
	}

	/**
	 * Arrow Java would take the values of one child for those of the other.
	 */
	@Test
	void whenTypeIdsOfADenseUnionDescendThenTheMessageNamesTheField() {
		Field union = new Field("u", FieldType.nullable(new ArrowType.Union(UnionMode.Dense, new int[] { 42, 20 })),
				List.of(Field.nullable("a", new ArrowType.Int(32, true)),
						Field.nullable("b", ArrowType.Utf8.INSTANCE)));
		Field list = new Field("l", FieldType.nullable(new ArrowType.List()), List.of(union));
		assertThat(failureOf(IpcBytes.schemaMessage(new Schema(List.of(list)), Endianness.Little, MetadataVersion.V5)))
			.isInstanceOf(UnsupportedIpcException.class)
			.hasMessageContaining("'l.u'");
	}

	/**
	 * One table may be referred to any number of times: 60 levels of a struct with twice
	 * the same child are more fields than anybody has memory for.
	 */
	@Test
	void whenASmallSchemaUnfoldsToAHugeOneThenThatIsAnError() {
		FlatBufferBuilder builder = new FlatBufferBuilder();
		int field = field(builder, builder.createString("x"), Type.Int,
				org.apache.arrow.flatbuf.Int.createInt(builder, 32, true));
		for (int level = 0; level < 60; level++) {
			field = field(builder, builder.createString("x"), Type.Struct_, struct(builder), field, field);
		}
		assertThat(failureOf(schemaMessage(builder, field))).isInstanceOf(MalformedIpcException.class)
			.hasMessageContaining("more fields");
	}

	/**
	 * Each reference costs 4 bytes of the message, and a field of Arrow's a hundred times
	 * as much.
	 */
	@Test
	void whenASchemaHasMoreFieldsThanItsBytesAllowThenThatIsAnError() {
		assertThat(failureOf(fieldsOfOneTable(1000))).isInstanceOf(MalformedIpcException.class)
			.hasMessageContaining("more fields");
	}

	/**
	 * However long its message: the rest of it is text that nothing refers to.
	 */
	@Test
	void whenALongSchemaHasMoreFieldsThanAnybodyNeedsThenThatIsAnError() {
		FlatBufferBuilder builder = new FlatBufferBuilder(1 << 24);
		builder.createByteVector(new byte[24 * ((1 << 18) + 100_000)]);
		int field = field(builder, builder.createString("x"), Type.Int,
				org.apache.arrow.flatbuf.Int.createInt(builder, 32, true));
		int[] fields = new int[(1 << 18) + 1];
		Arrays.fill(fields, field);
		assertThat(failureOf(schemaMessage(builder, fields))).isInstanceOf(MalformedIpcException.class)
			.hasMessageContaining("more fields");
	}

	private static byte[] fieldsOfOneTable(int count) {
		FlatBufferBuilder builder = new FlatBufferBuilder();
		int[] fields = new int[count];
		Arrays.fill(fields, field(builder, builder.createString("x"), Type.Int,
				org.apache.arrow.flatbuf.Int.createInt(builder, 32, true)));
		return schemaMessage(builder, fields);
	}

	@Test
	void whenManyFieldsShareOneLongNameThenThatIsAnError() {
		FlatBufferBuilder builder = new FlatBufferBuilder();
		int name = builder.createString("x".repeat(100_000));
		int type = org.apache.arrow.flatbuf.Int.createInt(builder, 32, true);
		int[] fields = java.util.stream.IntStream.range(0, 5000)
			.map((i) -> field(builder, name, Type.Int, type))
			.toArray();
		assertThat(failureOf(schemaMessage(builder, fields))).isInstanceOf(MalformedIpcException.class)
			.hasMessageContaining("more text");
	}

	@Test
	void whenAFieldIsNestedTooDeepThenTheMessageNamesItsColumn() {
		Field field = Field.nullable("x", new ArrowType.Int(32, true));
		for (int level = 0; level < 200; level++) {
			field = new Field("s" + level, FieldType.nullable(ArrowType.Struct.INSTANCE), List.of(field));
		}
		assertThat(failureOf(IpcBytes.schemaMessage(new Schema(List.of(field)), Endianness.Little, MetadataVersion.V5)))
			.isInstanceOf(UnsupportedIpcException.class)
			.hasMessageContaining("'s199'");
	}

	private static int struct(FlatBufferBuilder builder) {
		org.apache.arrow.flatbuf.Struct_.startStruct_(builder);
		return org.apache.arrow.flatbuf.Struct_.endStruct_(builder);
	}

	private static int field(FlatBufferBuilder builder, int name, byte typeId, int type, int... children) {
		int vector = org.apache.arrow.flatbuf.Field.createChildrenVector(builder, children);
		org.apache.arrow.flatbuf.Field.startField(builder);
		org.apache.arrow.flatbuf.Field.addName(builder, name);
		org.apache.arrow.flatbuf.Field.addTypeType(builder, typeId);
		org.apache.arrow.flatbuf.Field.addType(builder, type);
		org.apache.arrow.flatbuf.Field.addChildren(builder, vector);
		return org.apache.arrow.flatbuf.Field.endField(builder);
	}

	private static byte[] schemaMessage(FlatBufferBuilder builder, int... fields) {
		int vector = org.apache.arrow.flatbuf.Schema.createFieldsVector(builder, fields);
		org.apache.arrow.flatbuf.Schema.startSchema(builder);
		org.apache.arrow.flatbuf.Schema.addFields(builder, vector);
		return IpcBytes.message(builder, org.apache.arrow.flatbuf.Schema.endSchema(builder), MessageHeader.Schema,
				MetadataVersion.V5, 0, new byte[0]);
	}

	@Test
	void whenNamesAreNullThenTheyAreKept() {
		Field item = new Field(null, FieldType.nullable(new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE)),
				null);
		Schema schema = new Schema(List.of(new Field(null, FieldType.nullable(new ArrowType.List()), List.of(item))));
		IpcDecoder decoder = new IpcDecoder(this.engine.allocator(), IpcTarget.UNKNOWN_SIZE);
		decoder.decode(ByteBuffer.wrap(IpcBytes.schemaMessage(schema, Endianness.Little, MetadataVersion.V5)));
		assertThat(decoder.schema()).isNotNull();
		assertThat(decoder.schema().schema()).isEqualTo(schema);
		decoder.close();
	}

	@Test
	void whenSchemaAndFieldsHaveMetadataAndExtensionsThenTheyAreKept() {
		Map<String, String> metadata = Map.of("ARROW:extension:name", "not.registered", "ARROW:extension:metadata", "m",
				"k", "v");
		Schema schema = new Schema(
				List.of(new Field("x", new FieldType(false, new ArrowType.FixedSizeBinary(16), null, metadata), null)),
				Map.of("owner", "me"));
		IpcDecoder decoder = new IpcDecoder(this.engine.allocator(), IpcTarget.UNKNOWN_SIZE);
		decoder.decode(ByteBuffer.wrap(new IpcBytes().schema(schema).end()));
		decoder.finish();
		assertThat(decoder.schema()).isNotNull();
		assertThat(decoder.schema().schema()).isEqualTo(schema);
	}

	/**
	 * A length that merely claims much must not cost much.
	 */
	@Test
	void whenABodyClaimsGigabytesThenLittleIsAllocated() {
		try (BufferAllocator limited = this.engine.allocator().newChildAllocator("limited", 0, 32 << 20)) {
			byte[] data = new IpcBytes().schema(INTS)
				.raw(IpcBytes.batchMessage(500_000_000, 0, 2_000_000_000L, 2_000_000_000L, new byte[300]))
				.toByteArray();
			Decoded decoded = decode(data, 100, limited);
			assertThat(decoded.failure).isInstanceOf(TruncatedIpcException.class);
			assertThat(limited.getPeakMemoryAllocation()).isLessThanOrEqualTo(16 << 20);
		}
	}

	@Test
	void whenMetadataClaimMuchOrLessThanNothingThenThatIsAnErrorAtOnce() {
		for (int length : new int[] { Integer.MAX_VALUE, 65 << 20, -2, Integer.MIN_VALUE }) {
			byte[] prefix = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putInt(-1).putInt(length).array();
			assertThat(decode(prefix, 8).failure).as("%d", length).isInstanceOf(MalformedIpcException.class);
			assertThat(failureOf(new IpcBytes().schema(INTS).raw(prefix).toByteArray())).as("%d", length)
				.isInstanceOf(MalformedIpcException.class)
				.hasMessageContaining("says that its metadata have");
		}
	}

	@Test
	void whenABufferLiesOutsideItsBodyThenThatIsAnError() {
		long[][] wrong = { { 0, 304 }, { 304, 8 }, { -8, 8 }, { 0, -8 }, { Long.MAX_VALUE, 8 }, { 8, Long.MAX_VALUE } };
		for (long[] buffer : wrong) {
			byte[] data = new IpcBytes().schema(INTS)
				.raw(IpcBytes.batchMessage(2, buffer[0], buffer[1], 296, new byte[296]))
				.end();
			assertThat(failureOf(data)).as("%s", Arrays.toString(buffer))
				.isInstanceOf(MalformedIpcException.class)
				.hasMessageContaining("outside its body");
		}
	}

	/**
	 * Each buffer fits, but together they are more than the body: a small message could
	 * claim terabytes that are checked and written again and again.
	 */
	@Test
	void whenBuffersOverlapThenThatIsAnError() {
		FlatBufferBuilder builder = new FlatBufferBuilder();
		org.apache.arrow.flatbuf.RecordBatch.startNodesVector(builder, 1);
		org.apache.arrow.flatbuf.FieldNode.createFieldNode(builder, 2, 0);
		int nodes = builder.endVector();
		org.apache.arrow.flatbuf.RecordBatch.startBuffersVector(builder, 2);
		org.apache.arrow.flatbuf.Buffer.createBuffer(builder, 0, 200);
		org.apache.arrow.flatbuf.Buffer.createBuffer(builder, 0, 200);
		int buffers = builder.endVector();
		int table = org.apache.arrow.flatbuf.RecordBatch.createRecordBatch(builder, 2, nodes, buffers, 0, 0);
		byte[] message = IpcBytes.message(builder, table, MessageHeader.RecordBatch, MetadataVersion.V5, 296,
				new byte[296]);
		assertThat(failureOf(new IpcBytes().schema(INTS).raw(message).end())).isInstanceOf(MalformedIpcException.class)
			.hasMessageContaining("their body has only 296");
	}

	/**
	 * Empty entries of metadata have no text, but cost memory and time all the same.
	 */
	@Test
	void whenFieldsShareManyEmptyEntriesOfMetadataThenThatIsAnError() {
		FlatBufferBuilder builder = new FlatBufferBuilder();
		org.apache.arrow.flatbuf.KeyValue.startKeyValue(builder);
		int entry = org.apache.arrow.flatbuf.KeyValue.endKeyValue(builder);
		int[] entries = new int[10_000];
		Arrays.fill(entries, entry);
		int metadata = org.apache.arrow.flatbuf.Field.createCustomMetadataVector(builder, entries);
		int name = builder.createString("x");
		int type = org.apache.arrow.flatbuf.Int.createInt(builder, 32, true);
		int children = org.apache.arrow.flatbuf.Field.createChildrenVector(builder, new int[0]);
		org.apache.arrow.flatbuf.Field.startField(builder);
		org.apache.arrow.flatbuf.Field.addName(builder, name);
		org.apache.arrow.flatbuf.Field.addTypeType(builder, Type.Int);
		org.apache.arrow.flatbuf.Field.addType(builder, type);
		org.apache.arrow.flatbuf.Field.addChildren(builder, children);
		org.apache.arrow.flatbuf.Field.addCustomMetadata(builder, metadata);
		int field = org.apache.arrow.flatbuf.Field.endField(builder);
		int[] fields = new int[1000];
		Arrays.fill(fields, field);
		assertThat(failureOf(schemaMessage(builder, fields))).isInstanceOf(MalformedIpcException.class)
			.hasMessageContaining("more text");
	}

	@Test
	void whenCountsAreAbsurdThenThatIsAnError() {
		for (long rows : new long[] { -1, Integer.MAX_VALUE + 1L, Long.MIN_VALUE }) {
			byte[] data = new IpcBytes().schema(INTS).raw(IpcBytes.batchMessage(rows, 0, 8, 8, new byte[8])).end();
			assertThat(failureOf(data)).as("%d", rows).isInstanceOf(MalformedIpcException.class);
		}
		byte[] negativeBody = new IpcBytes().schema(INTS).raw(IpcBytes.batchMessage(1, 0, 8, -8, new byte[0])).end();
		assertThat(failureOf(negativeBody)).isInstanceOf(MalformedIpcException.class);
	}

	@Test
	void whenBuffersAreNotAlignedThenTheBatchHasAlignedCopies() throws Exception {
		byte[] body = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN).position(3).putInt(41).putInt(42).array();
		byte[] data = new IpcBytes().schema(INTS).raw(IpcBytes.batchMessage(2, 3, 8, 16, body)).end();
		try (RecordBatch batch = single(data); OpenBatch open = batch.open(this.engine.allocator())) {
			assertThat(((IntVector) open.root().getVector(0)).get(1)).isEqualTo(42);
			batch.body().getBuffers().forEach((buffer) -> assertThat(buffer.memoryAddress() % 8).isZero());
		}
	}

	@Test
	void whenABodyIsLargerThanAllocatedAtOnceThenItGrows() throws Exception {
		int rows = 9 << 20;
		byte[] body = new byte[4 * rows];
		ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN).putInt(4 * (rows - 1), 77);
		byte[] data = new IpcBytes().schema(INTS)
			.raw(IpcBytes.batchMessage(rows, 0, body.length, body.length, body))
			.end();
		try (RecordBatch batch = single(data); OpenBatch open = batch.open(this.engine.allocator())) {
			assertThat(((IntVector) open.root().getVector(0)).get(rows - 1)).isEqualTo(77);
			// One allocation, and not the ones it grew out of.
			assertThat(batch.memorySize()).isBetween((long) body.length, 2L * body.length);
		}
	}

	@Test
	void whenTheAllocatorIsAtItsLimitThenTheErrorNamesTheProperty() {
		try (BufferAllocator limited = this.engine.allocator().newChildAllocator("limited", 0, 1000)) {
			byte[] data = new IpcBytes().schema(INTS)
				.raw(IpcBytes.batchMessage(1000, 0, 4000, 4000, new byte[4000]))
				.end();
			assertThat(decode(data, 512, limited).failure).isInstanceOf(IpcMemoryLimitException.class)
				.hasMessageContaining("lance.memory.limit");
		}
	}

	@Test
	void whenTheFooterOfAFileDoesNotFitThenThatIsAnError() {
		byte[] file = threeBatchFile();
		List<byte[]> messages = IpcBytes.messages(Arrays.copyOfRange(file, 8, file.length));
		byte[] batch = messages.get(messages.size() - 1);
		int footerStart = 8 + messages.stream().mapToInt((message) -> message.length).sum();
		byte[] oneMore = new IpcBytes().raw(Arrays.copyOf(file, footerStart))
			.raw(batch)
			.raw(Arrays.copyOfRange(file, footerStart, file.length))
			.toByteArray();
		assertThat(decode(oneMore, 100).failure).isInstanceOf(MalformedIpcException.class)
			.hasMessageContaining("lists 3 batches");
		byte[] wrongLength = file.clone();
		wrongLength[file.length - 10]++;
		assertThat(decode(wrongLength, 100).failure).isInstanceOf(MalformedIpcException.class)
			.hasMessageContaining("footer");
	}

	private byte[] threeBatches() {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(stringsAndInts(), this.engine.allocator())) {
			return IpcBytes.stream(root, null, () -> fill(root, 3), () -> fill(root, 0), () -> fill(root, 5));
		}
	}

	private byte[] threeBatchFile() {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(stringsAndInts(), this.engine.allocator())) {
			return IpcBytes.file(root, null, () -> fill(root, 3), () -> fill(root, 0), () -> fill(root, 5));
		}
	}

	private static Schema stringsAndInts() {
		return new Schema(List.of(Field.nullable("n", new ArrowType.Int(32, true)),
				Field.nullable("s", ArrowType.Utf8.INSTANCE)));
	}

	private static void fill(VectorSchemaRoot root, int rows) {
		root.clear();
		root.allocateNew();
		for (int i = 0; i < rows; i++) {
			((IntVector) root.getVector(0)).setSafe(i, i);
			((VarCharVector) root.getVector(1)).setSafe(i, ("row " + i).getBytes(StandardCharsets.UTF_8));
		}
		root.setRowCount(rows);
	}

	private static Schema messageSchema(byte[] message) {
		return org.apache.arrow.vector.types.pojo.Schema.deserializeMessage(ByteBuffer.wrap(message));
	}

	private ArrowDataException failureOf(byte[] data) {
		Decoded decoded = decode(data, 100);
		assertThat(decoded.failure).isInstanceOf(ArrowDataException.class);
		assertThat(decoded.batches).isZero();
		return (ArrowDataException) decoded.failure;
	}

	private RecordBatch single(byte[] data) {
		IpcDecoder decoder = new IpcDecoder(this.engine.allocator(), IpcTarget.UNKNOWN_SIZE);
		ByteBuffer source = ByteBuffer.wrap(data);
		RecordBatch batch = decoder.decode(source);
		assertThat(batch).isNotNull();
		assertThat(decoder.decode(source)).isNull();
		decoder.finish();
		return batch;
	}

	private Decoded decode(byte[] data, int chunk) {
		return decode(data, chunk, this.engine.allocator());
	}

	/**
	 * Decodes chunk by chunk; counts and closes the batches.
	 */
	static Decoded decode(byte[] data, int chunk, BufferAllocator allocator) {
		int batches = 0;
		try (IpcDecoder decoder = new IpcDecoder(allocator, IpcTarget.UNKNOWN_SIZE)) {
			for (int position = 0; position < data.length; position += chunk) {
				ByteBuffer source = ByteBuffer.wrap(data, position, Math.min(chunk, data.length - position));
				while (source.hasRemaining()) {
					RecordBatch batch = decoder.decode(source);
					if (batch != null) {
						batches++;
						batch.close();
					}
				}
			}
			decoder.finish();
			return new Decoded(batches, null);
		}
		catch (ArrowDataException ex) {
			return new Decoded(batches, ex);
		}
	}

	record Decoded(int batches, ArrowDataException failure) {

	}

}
