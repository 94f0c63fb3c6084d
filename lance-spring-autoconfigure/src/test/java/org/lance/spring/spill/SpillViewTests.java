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

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.util.MemoryUtil;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ViewVarCharVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of view columns on disk, whose slices share the data buffers of the whole.
 */
class SpillViewTests {

	/**
	 * A view column in a struct between others, so that every buffer after it moves when
	 * it shrinks.
	 */
	private static final Schema SCHEMA = new Schema(List.of(Field.nullable("first", new ArrowType.Int(64, true)),
			new Field("box", FieldType.nullable(new ArrowType.Struct()),
					List.of(Field.nullable("text", new ArrowType.Utf8View()))),
			Field.nullable("last", new ArrowType.Int(64, true))));

	private static final int ROWS = 10_000;

	private static final int SLICES = 100;

	private static final int LONG_TEXT = 1000;

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@TempDir
	Path base;

	private final List<SpillFile> files = new ArrayList<>();

	private FileSpillStore store;

	static List<SpillFormat> formats() {
		SpillCompression zstd = SpillCompression.zstd(1);
		return List.of(SpillFormat.PLAIN, new SpillFormat(zstd, false), new SpillFormat(SpillCompression.NONE, true),
				new SpillFormat(zstd, true));
	}

	@AfterEach
	void deleteFiles() {
		this.files.forEach(SpillFile::delete);
		if (this.store != null) {
			this.store.close();
		}
	}

	private SpillFile create(SpillFormat format) {
		if (this.store == null) {
			this.store = new FileSpillStore(() -> this.base, this.engine.allocator(), ReadMode.MAP);
		}
		SpillFile file = this.store.create("test", SCHEMA, Map.of(), format);
		this.files.add(file);
		return file;
	}

	/**
	 * Every tenth is null, every seventh short.
	 */
	private static String text(int row) {
		if (row % 10 == 0) {
			return null;
		}
		if (row % 7 == 0) {
			return "short " + row;
		}
		byte[] letters = new byte[LONG_TEXT];
		Random random = new Random(row);
		for (int i = 0; i < letters.length; i++) {
			letters[i] = (byte) ('a' + random.nextInt(26));
		}
		return new String(letters, StandardCharsets.US_ASCII);
	}

	private static ViewVarCharVector text(VectorSchemaRoot root) {
		return (ViewVarCharVector) ((StructVector) root.getVector("box")).getChild("text");
	}

	private VectorSchemaRoot whole() {
		VectorSchemaRoot root = VectorSchemaRoot.create(SCHEMA, this.engine.allocator());
		ViewVarCharVector texts = text(root);
		for (int row = 0; row < ROWS; row++) {
			((BigIntVector) root.getVector("first")).setSafe(row, row);
			((BigIntVector) root.getVector("last")).setSafe(row, -row);
			String text = text(row);
			if (text != null) {
				texts.setSafe(row, text.getBytes(StandardCharsets.US_ASCII));
			}
			else {
				texts.setNull(row);
			}
			((StructVector) root.getVector("box")).setIndexDefined(row);
		}
		root.setRowCount(ROWS);
		for (int row = 0; row < ROWS; row += 10) {
			// What the view of a null says means nothing.
			texts.getDataBuffer().setInt(16L * row, 1 << 30);
		}
		return root;
	}

	/**
	 * Slices as a native producer makes them: all data buffers, of which each refers to
	 * its own part.
	 */
	private RecordBatch slice(VectorSchemaRoot whole, int from, int rows) {
		ViewVarCharVector texts = text(whole);
		List<ArrowBuf> buffers = new ArrayList<>();
		int nulls = 0;
		for (int row = from; row < from + rows; row++) {
			nulls += texts.isNull(row) ? 1 : 0;
		}
		addNumbers(buffers, (BigIntVector) whole.getVector("first"), from, rows);
		buffers.add(bits(whole.getVector("box").getValidityBuffer(), from, rows));
		buffers.add(bits(texts.getValidityBuffer(), from, rows));
		buffers.add(texts.getDataBuffer().slice(16L * from, 16L * rows));
		buffers.addAll(texts.getDataBuffers());
		addNumbers(buffers, (BigIntVector) whole.getVector("last"), from, rows);
		ArrowFieldNode numbers = new ArrowFieldNode(rows, 0);
		ArrowRecordBatch body = new ArrowRecordBatch(rows,
				List.of(numbers, numbers, new ArrowFieldNode(rows, nulls), numbers), buffers,
				NoCompressionCodec.DEFAULT_BODY_COMPRESSION, List.of((long) texts.getDataBuffers().size()), true,
				false);
		return RecordBatch.seal(SCHEMA, body, List.of(), this.engine.allocator());
	}

	private void addNumbers(List<ArrowBuf> buffers, BigIntVector vector, int from, int rows) {
		buffers.add(bits(vector.getValidityBuffer(), from, rows));
		buffers.add(vector.getDataBuffer().slice(8L * from, 8L * rows));
	}

	private ArrowBuf bits(ArrowBuf validity, int from, int rows) {
		assertThat(from % 8).isZero();
		return validity.slice(from / 8, (rows + 7) / 8);
	}

	private void check(RecordBatch batch, int from) {
		try (batch; OpenBatch open = batch.open(this.engine.allocator())) {
			ViewVarCharVector texts = text(open.root());
			for (int row = 0; row < batch.rowCount(); row++) {
				assertThat(((BigIntVector) open.root().getVector("first")).get(row)).isEqualTo(from + row);
				assertThat(((BigIntVector) open.root().getVector("last")).get(row)).isEqualTo(-from - row);
				String expected = text(from + row);
				assertThat(texts.isNull(row)).isEqualTo(expected == null);
				if (expected != null) {
					assertThat(texts.getObject(row)).hasToString(expected);
				}
			}
		}
	}

	@ParameterizedTest
	@MethodSource("formats")
	void slicesAreWrittenWithoutTheDataOfTheWhole(SpillFormat format) {
		SpillFile file = create(format);
		int rows = ROWS / SLICES - 4;
		try (VectorSchemaRoot whole = whole()) {
			for (int i = 0; i < SLICES; i++) {
				try (RecordBatch slice = slice(whole, i * 96, rows)) {
					file.append(slice);
				}
			}
		}
		file.finish();
		long logical = 0;
		for (int row = 0; row < SLICES * rows; row++) {
			String text = text(row);
			logical += 32 + ((text != null && text.length() > 12) ? text.length() : 0);
		}
		assertThat(file.bytes()).isLessThan(logical * 3 / 2);
		for (int i = 0; i < SLICES; i++) {
			check(file.read(i, Verification.ALWAYS), i * 96);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 56 })
	void aSliceThatUsesNoDataBufferHasNone(int row) throws Exception {
		assertThat(text(row)).isEqualTo((row == 0) ? null : "short 56");
		SpillFile file = create(SpillFormat.PLAIN);
		try (VectorSchemaRoot whole = whole(); RecordBatch slice = slice(whole, row, 1)) {
			file.append(slice);
		}
		file.finish();
		assertThat(file.length(0)).isLessThan(1000);
		check(file.read(0, Verification.ALWAYS), row);
		try (ArrowStreamReader reader = new ArrowStreamReader(Files.newInputStream(Path.of(file.toString())),
				this.engine.allocator())) {
			assertThat(reader.loadNextBatch()).isTrue();
			assertThat(text(reader.getVectorSchemaRoot()).getDataBuffers()).isEmpty();
			assertThat(text(reader.getVectorSchemaRoot()).isNull(0)).isEqualTo(row == 0);
		}
	}

	@Test
	void aBatchThatUsesItsDataIsNotCopied() {
		try (VectorSchemaRoot whole = whole();
				RecordBatch batch = slice(whole, 0, ROWS);
				ScratchMemory scratch = new ScratchMemory(this.engine.allocator())) {
			assertThat(ViewCompactor.compact(SCHEMA.getFields(), batch.body(), scratch)).isSameAs(batch.body());
		}
	}

	@Test
	void whenThereIsNoMemoryToCompactThenTheWriteFailsAndNothingLeaks() {
		SpillFile file = create(SpillFormat.PLAIN);
		try (VectorSchemaRoot whole = whole(); RecordBatch slice = slice(whole, 0, 96)) {
			long before = this.engine.allocator().getAllocatedMemory();
			this.engine.allocator().setLimit(before);
			assertThatExceptionOfType(SpillIoException.class).isThrownBy(() -> file.append(slice))
				.withMessageContaining("lance.memory.limit");
			assertThat(this.engine.allocator().getAllocatedMemory()).isEqualTo(before);
			this.engine.allocator().setLimit(Long.MAX_VALUE);
		}
	}

	@ParameterizedTest
	@MethodSource("formats")
	void whenBitsOfTheViewsAreFlippedThenTheBatchIsCorrupted(SpillFormat format) throws Exception {
		SpillFile file = create(format);
		int rows = 96;
		try (VectorSchemaRoot whole = whole(); RecordBatch slice = slice(whole, 0, rows)) {
			file.append(slice);
		}
		file.finish();
		Path path = Path.of(file.toString());
		byte[] good = Files.readAllBytes(path);
		int end = good.length - (format.encrypted() ? 24 : 8);
		int start = end - (int) file.length(0);
		int body = 0;
		if (format.equals(SpillFormat.PLAIN)) {
			// Two buffers of the first column and two validity buffers come before.
			int metadata = ByteBuffer.wrap(good).order(ByteOrder.LITTLE_ENDIAN).getInt(start + 4) + 8;
			body = metadata + 16 + 8 * rows + 16 + 16;
			assertThat(ByteBuffer.wrap(good).order(ByteOrder.LITTLE_ENDIAN).getInt(start + body + 16))
				.as("length of the second text")
				.isEqualTo(LONG_TEXT);
		}
		for (int at = start + body; at < start + body + 16 * rows; at += 5) {
			byte[] bad = good.clone();
			bad[at] ^= 0x40;
			Files.write(path, bad);
			for (Verification verification : new Verification[] { Verification.ALWAYS, Verification.FIRST_READ }) {
				assertThatExceptionOfType(SpillCorruptedException.class).isThrownBy(() -> file.read(0, verification))
					.withMessageContaining("batch 0 ");
			}
		}
		Files.write(path, good);
		check(file.read(0, Verification.ALWAYS), 0);
	}

	/**
	 * One batch of 300 MB, which no default may refuse.
	 */
	@ParameterizedTest
	@MethodSource("formats")
	void aBatchOf300MegabytesIsReplayed(SpillFormat format) {
		int rows = 300_000_000 / Long.BYTES;
		Schema schema = new Schema(List.of(Field.nullable("n", new ArrowType.Int(64, true))));
		this.store = new FileSpillStore(() -> this.base, this.engine.allocator(), ReadMode.MAP);
		SpillFile file = this.store.create("large", schema, Map.of(), format);
		this.files.add(file);
		try (ArrowBuf numbers = this.engine.allocator().buffer(rows * 8L)) {
			for (long row = 0; row < rows; row++) {
				MemoryUtil.putLong(numbers.memoryAddress() + 8 * row, row);
			}
			numbers.writerIndex(rows * 8L);
			ArrowRecordBatch body = new ArrowRecordBatch(rows, List.of(new ArrowFieldNode(rows, 0)),
					List.of(this.engine.allocator().getEmpty(), numbers), NoCompressionCodec.DEFAULT_BODY_COMPRESSION,
					true, false);
			try (RecordBatch batch = RecordBatch.seal(schema, body, List.of(), this.engine.allocator())) {
				file.append(batch);
			}
		}
		assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
		file.finish();
		try (RecordBatch batch = file.read(0, Verification.ALWAYS);
				OpenBatch open = batch.open(this.engine.allocator())) {
			assertThat(batch.rowCount()).isEqualTo(rows);
			BigIntVector numbers = (BigIntVector) open.root().getVector(0);
			long differences = 0;
			for (int row = 0; row < rows; row++) {
				differences += (numbers.getDataBuffer().getLong(8L * row) != row) ? 1 : 0;
			}
			assertThat(differences).isZero();
		}
	}

}
