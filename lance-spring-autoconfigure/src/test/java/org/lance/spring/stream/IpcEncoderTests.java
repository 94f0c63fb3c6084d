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

package org.lance.spring.stream;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ViewVarCharVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryEncoder;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class IpcEncoderTests {

	private static final DictionaryEncoding ENCODING = new DictionaryEncoding(7, false, null);

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private final ByteArrayOutputStream out = new ByteArrayOutputStream();

	@Test
	void batchesAndMetadataReachAnArrowReader() throws Exception {
		Field text = new Field("text", new FieldType(true, new ArrowType.Utf8(), null, Map.of("unit", "none")), null);
		Field view = Field.nullable("view", new ArrowType.Utf8View());
		Schema schema = new Schema(List.of(text, view), Map.of("origin", "test"));
		try (IpcEncoder encoder = new IpcEncoder(schema)) {
			write(encoder.schema(Map.of()));
			for (int i = 0; i < 3; i++) {
				try (RecordBatch batch = texts(schema, "short" + i, null, "a text of more than twelve bytes " + i)) {
					assertThat(encoder.dictionaries(batch)).isEmpty();
					write(encoder.batch(batch));
				}
			}
			write(encoder.end());
		}
		try (ArrowStreamReader reader = reader()) {
			VectorSchemaRoot root = reader.getVectorSchemaRoot();
			assertThat(root.getSchema()).isEqualTo(schema);
			assertThat(root.getSchema().getCustomMetadata()).containsEntry("origin", "test");
			for (int i = 0; i < 3; i++) {
				assertThat(reader.loadNextBatch()).isTrue();
				for (FieldVector column : root.getFieldVectors()) {
					assertThat(strings(column)).containsExactly("short" + i, null,
							"a text of more than twelve bytes " + i);
				}
			}
			assertThat(reader.loadNextBatch()).isFalse();
			assertThat(reader.bytesRead()).isEqualTo(this.out.size());
		}
	}

	@Test
	void whenColumnsAreEmptyThenOneOffsetIsWritten() throws Exception {
		Field large = Field.nullable("large", new ArrowType.LargeUtf8());
		Field text = Field.nullable("text", new ArrowType.Utf8());
		Field number = Field.nullable("number", new ArrowType.Int(32, true));
		Field list = new Field("list", FieldType.nullable(new ArrowType.List()), List.of(text));
		Field view = Field.nullable("view", new ArrowType.Utf8View());
		Field entries = new Field("entries", FieldType.notNullable(new ArrowType.Struct()),
				List.of(Field.notNullable("key", new ArrowType.Utf8()), text));
		Field map = new Field("map", FieldType.nullable(new ArrowType.Map(false)), List.of(entries));
		Schema schema = new Schema(List.of(view, text, large, number, list, map));
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator());
				RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator());
				IpcEncoder encoder = new IpcEncoder(schema)) {
			write(encoder.schema(Map.of()));
			IpcEncoder.Message message = encoder.batch(batch);
			write(message);
			write(encoder.end());
			assertThat(bufferLengths(message)).containsExactly(0L, 0L, // view
					0L, 4L, 0L, // text
					0L, 8L, 0L, // large
					0L, 0L, // number
					0L, 4L, 0L, 4L, 0L, // list
					0L, 4L, 0L, 0L, 4L, 0L, 0L, 4L, 0L); // map
		}
		try (ArrowStreamReader reader = reader()) {
			assertThat(reader.loadNextBatch()).isTrue();
			assertThat(reader.getVectorSchemaRoot().getRowCount()).isZero();
			assertThat(reader.loadNextBatch()).isFalse();
		}
	}

	@Test
	void batchesWithoutColumnsKeepTheirRowCount() throws Exception {
		Schema schema = new Schema(List.of());
		try (IpcEncoder encoder = new IpcEncoder(schema); VectorSchemaRoot root = new VectorSchemaRoot(List.of())) {
			root.setRowCount(7);
			write(encoder.schema(Map.of()));
			try (RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator())) {
				write(encoder.batch(batch));
			}
			write(encoder.end());
		}
		try (ArrowStreamReader reader = reader()) {
			assertThat(reader.loadNextBatch()).isTrue();
			assertThat(reader.getVectorSchemaRoot().getRowCount()).isEqualTo(7);
		}
	}

	@Test
	void aDictionaryIsWrittenAgainOnlyWhenItsVersionChanged() throws Exception {
		try (DictionaryVersion first = dictionary(null, "one", "two"); IpcEncoder encoder = new IpcEncoder(schema())) {
			write(encoder.schema(IpcEncoder.fields(List.of(first))));
			assertThat(encode(encoder, first, 0, 1)).containsExactly(false);
			assertThat(encode(encoder, first, 1, 0)).isEmpty();
			try (DictionaryVersion second = dictionary(null, "uno", "dos")) {
				assertThat(encode(encoder, second, 0, 1)).containsExactly(false);
			}
			assertThat(encode(encoder, first, 0, 1)).containsExactly(false);
			write(encoder.end());
		}
		assertThat(decoded()).containsExactly("one,two", "two,one", "uno,dos", "one,two");
	}

	@Test
	void aVersionThatContinuesTheWrittenOneIsWrittenAsDeltas() throws Exception {
		try (DictionaryVersion first = dictionary(null, "a");
				DictionaryVersion second = dictionary(first, "b");
				DictionaryVersion third = dictionary(second, "c", "d");
				IpcEncoder encoder = new IpcEncoder(schema())) {
			write(encoder.schema(IpcEncoder.fields(List.of(first))));
			assertThat(encode(encoder, first, 0)).containsExactly(false);
			assertThat(encode(encoder, third, 0, 1, 2, 3)).containsExactly(true, true);
			assertThat(encode(encoder, second, 1, 0)).containsExactly(false, true);
			assertThat(encode(encoder, third, 3)).containsExactly(true);
			write(encoder.end());
		}
		assertThat(decoded()).containsExactly("a", "a,b,c,d", "b,a", "d");
	}

	@Test
	void whenTheWrittenVersionIsGivenBackThenItsIdentityIsNotTakenForAnother() throws Exception {
		try (IpcEncoder encoder = new IpcEncoder(schema())) {
			DictionaryVersion first = dictionary(null, "one", "two");
			write(encoder.schema(IpcEncoder.fields(List.of(first))));
			encode(encoder, first, 0);
			first.close();
			assertThat(first.values().getBuffers().get(0).refCnt()).isOne();
			encoder.close();
			assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
		}
	}

	@Test
	void innerDictionariesComeFirst() throws Exception {
		DictionaryEncoding inner = new DictionaryEncoding(9, false, null);
		BufferAllocator allocator = this.engine.allocator();
		MapDictionaryProvider provider = new MapDictionaryProvider();
		Schema schema;
		try (StructVector outerValues = StructVector.empty("outer", allocator);
				VarCharVector innerValues = varchar("inner", "x", "y");
				IntVector indexes = new IntVector("column", new FieldType(true, ENCODING.getIndexType(), ENCODING),
						allocator)) {
			IntVector innerIndexes = outerValues.addOrGet("child", new FieldType(true, inner.getIndexType(), inner),
					IntVector.class);
			for (int i = 0; i < 2; i++) {
				innerIndexes.setSafe(i, 1 - i);
				outerValues.setIndexDefined(i);
				indexes.setSafe(i, i);
			}
			outerValues.setValueCount(2);
			indexes.setValueCount(2);
			provider.put(new Dictionary(outerValues, ENCODING));
			provider.put(new Dictionary(innerValues, inner));
			try (VectorSchemaRoot root = VectorSchemaRoot.of(indexes);
					RecordBatch batch = RecordBatch.copyOf(root, provider, allocator);
					IpcEncoder encoder = new IpcEncoder(root.getSchema())) {
				schema = root.getSchema();
				write(encoder.schema(IpcEncoder.fields(batch.dictionaries())));
				List<IpcEncoder.DictionaryMessage> messages = encoder.dictionaries(batch);
				assertThat(messages).extracting((message) -> message.version().id()).containsExactly(9L, 7L);
				messages.forEach((message) -> write(message.message()));
				write(encoder.batch(batch));
				write(encoder.end());
			}
		}
		try (ArrowStreamReader reader = reader()) {
			assertThat(reader.getVectorSchemaRoot().getSchema()).isEqualTo(schema);
			assertThat(reader.loadNextBatch()).isTrue();
			StructVector values = (StructVector) reader.lookup(7).getVector();
			assertThat(((IntVector) values.getChild("child")).get(0)).isOne();
			assertThat(strings(reader.lookup(9).getVector())).containsExactly("x", "y");
		}
	}

	@Test
	void wrongUseIsRefused() throws Exception {
		try (IpcEncoder encoder = new IpcEncoder(schema()); DictionaryVersion texts = dictionary(null, "one")) {
			assertThatIllegalStateException().isThrownBy(encoder::end);
			assertThatIllegalArgumentException().isThrownBy(() -> encoder.schema(Map.of()))
				.withMessageContaining("'column'")
				.withMessageContaining("dictionary 7");
			encoder.schema(IpcEncoder.fields(List.of(texts)));
			assertThatIllegalStateException().isThrownBy(() -> encoder.schema(Map.of()));
			try (IntVector numbers = new IntVector("numbers", this.engine.allocator())) {
				numbers.setSafe(0, 1);
				numbers.setValueCount(1);
				try (DictionaryVersion other = seal(null, numbers)) {
					assertThatExceptionOfType(SchemaMismatchException.class)
						.isThrownBy(() -> encode(encoder, other, 0));
				}
			}
		}
	}

	private Schema schema() {
		return new Schema(List.of(new Field("column", new FieldType(true, ENCODING.getIndexType(), ENCODING), null)));
	}

	private List<Boolean> encode(IpcEncoder encoder, DictionaryVersion version, int... indexes) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema(), this.engine.allocator())) {
			IntVector column = (IntVector) root.getVector(0);
			for (int i = 0; i < indexes.length; i++) {
				column.setSafe(i, indexes[i]);
			}
			root.setRowCount(indexes.length);
			try (ArrowRecordBatch body = new VectorUnloader(root).getRecordBatch();
					RecordBatch batch = RecordBatch.seal(schema(), body, List.of(version), this.engine.allocator())) {
				List<IpcEncoder.DictionaryMessage> messages = encoder.dictionaries(batch);
				messages.forEach((message) -> write(message.message()));
				write(encoder.batch(batch));
				return messages.stream().map(IpcEncoder.DictionaryMessage::delta).toList();
			}
		}
	}

	private List<String> decoded() throws IOException {
		List<String> batches = new ArrayList<>();
		try (ArrowStreamReader reader = reader()) {
			while (reader.loadNextBatch()) {
				FieldVector column = reader.getVectorSchemaRoot().getVector(0);
				try (FieldVector values = (FieldVector) DictionaryEncoder.decode(column, reader.lookup(7))) {
					batches.add(String.join(",", strings(values)));
				}
			}
		}
		return batches;
	}

	private DictionaryVersion dictionary(DictionaryVersion previous, String... values) {
		try (VarCharVector vector = varchar("values", values)) {
			return seal(previous, vector);
		}
	}

	private DictionaryVersion seal(DictionaryVersion previous, FieldVector vector) {
		VectorSchemaRoot root = VectorSchemaRoot.of(vector);
		try (ArrowRecordBatch body = new VectorUnloader(root).getRecordBatch()) {
			return DictionaryVersion.seal(ENCODING.getId(), vector.getField(), body, previous, this.engine.allocator());
		}
	}

	private VarCharVector varchar(String name, String... values) {
		VarCharVector vector = new VarCharVector(name, this.engine.allocator());
		for (int i = 0; i < values.length; i++) {
			vector.setSafe(i, values[i].getBytes(StandardCharsets.UTF_8));
		}
		vector.setValueCount(values.length);
		return vector;
	}

	private RecordBatch texts(Schema schema, String... values) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			for (int i = 0; i < values.length; i++) {
				if (values[i] != null) {
					byte[] bytes = values[i].getBytes(StandardCharsets.UTF_8);
					((VarCharVector) root.getVector(0)).setSafe(i, bytes);
					((ViewVarCharVector) root.getVector(1)).setSafe(i, bytes);
				}
			}
			root.setRowCount(values.length);
			return RecordBatch.copyOf(root, null, this.engine.allocator());
		}
	}

	private static List<String> strings(FieldVector vector) {
		String[] values = new String[vector.getValueCount()];
		Arrays.setAll(values, (i) -> (vector.getObject(i) != null) ? vector.getObject(i).toString() : null);
		return Arrays.asList(values);
	}

	private static List<Long> bufferLengths(IpcEncoder.Message message) {
		ByteBuffer head = message.buffers().get(0).duplicate();
		Message header = Message.getRootAsMessage(head.position(8).slice());
		org.apache.arrow.flatbuf.RecordBatch batch = (org.apache.arrow.flatbuf.RecordBatch) header
			.header(new org.apache.arrow.flatbuf.RecordBatch());
		List<Long> lengths = new ArrayList<>();
		for (int i = 0; i < batch.buffersLength(); i++) {
			lengths.add(batch.buffers(i).length());
		}
		return lengths;
	}

	private void write(IpcEncoder.Message message) {
		long before = this.out.size();
		for (ByteBuffer buffer : message.buffers()) {
			byte[] bytes = new byte[buffer.remaining()];
			buffer.duplicate().get(bytes);
			this.out.writeBytes(bytes);
		}
		assertThat(this.out.size() - before).isEqualTo(message.length());
		assertThat(message.length() % 8).isZero();
	}

	private ArrowStreamReader reader() {
		return new ArrowStreamReader(Channels.newChannel(new ByteArrayInputStream(this.out.toByteArray())),
				this.engine.allocator());
	}

}
