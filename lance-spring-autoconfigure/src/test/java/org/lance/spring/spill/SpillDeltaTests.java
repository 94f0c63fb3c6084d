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

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.WriteChannel;
import org.apache.arrow.vector.ipc.message.ArrowDictionaryBatch;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.source.StreamingWriteSourceFactory;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Spills of IPC streams whose dictionary grows before each batch.
 */
class SpillDeltaTests {

	private static final DictionaryEncoding ENCODING = new DictionaryEncoding(7, false, new ArrowType.Int(32, true));

	private static final Schema SCHEMA = new Schema(
			List.of(new Field("word", new FieldType(true, ENCODING.getIndexType(), ENCODING), null)));

	private static final Schema WORDS = new Schema(List.of(Field.nullable("words", ArrowType.Utf8.INSTANCE)));

	@Order(1)
	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@Order(2)
	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@TempDir
	Path directory;

	private SpillHarness harness;

	private StreamingWriteSourceFactory sources;

	@BeforeEach
	void setUp() {
		this.harness = new SpillHarness(this.engine,
				new FileSpillStore(() -> this.directory, this.engine.allocator(), ReadMode.MAP), 1);
		this.sources = new StreamingWriteSourceFactory(this.engine.allocator(), this.engine.background(1), 1);
	}

	@ParameterizedTest
	@EnumSource
	void eachBatchHasTheValuesItCameWith(Place place) throws Exception {
		// To open one takes the longer the more there are.
		int deltas = (place == Place.DISK) ? 1000 : 200;
		SpillReceiver receiver = spill(deltas, place);
		RecordBatchStream early = receiver.read();
		assertValues(early, deltas);
		EngineExtension.await(receiver.written());
		assertThat(this.harness.manager.statistics().writes()).isEqualTo((place == Place.MEMORY) ? 0 : deltas);
		assertValues(receiver.read(), deltas);
	}

	/**
	 * Scenario: the whole dictionary is written before each batch, so that twice as many
	 * deltas take four times the space.
	 */
	@Test
	void twiceAsManyDeltasTakeTwiceTheSpace() throws Exception {
		assertThat(bytesOnDisk(1000)).isLessThan(bytesOnDisk(500) * 22 / 10);
	}

	private long bytesOnDisk(int deltas) throws Exception {
		long before = this.harness.manager.statistics().bytesWritten();
		SpillReceiver receiver = spill(deltas, Place.DISK);
		EngineExtension.await(receiver.written());
		long written = this.harness.manager.statistics().bytesWritten() - before;
		assertThat(written).isPositive();
		return written;
	}

	private SpillReceiver spill(int deltas, Place place) throws Exception {
		StreamingWriteSource source = EngineExtension
			.await(this.sources.fromIpc(new ByteArrayInputStream(stream(deltas))));
		return this.harness.keep(this.harness.manager.spill(source, place.options()));
	}

	/**
	 * Batch i comes after a dictionary that begins with one word, or a delta of one, and
	 * has the first, the middle and the newest word.
	 */
	private static byte[] stream(int deltas) throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		WriteChannel channel = new WriteChannel(Channels.newChannel(bytes));
		// The serializer takes the type of the values from the column itself.
		MessageSerializer.serialize(channel,
				new Schema(List.of(new Field("word", new FieldType(true, ArrowType.Utf8.INSTANCE, ENCODING), null))));
		try (BufferAllocator allocator = new RootAllocator();
				VectorSchemaRoot words = VectorSchemaRoot.create(WORDS, allocator);
				VectorSchemaRoot root = VectorSchemaRoot.create(SCHEMA, allocator)) {
			for (int i = 0; i < deltas; i++) {
				((VarCharVector) words.getVector(0)).setSafe(0, word(i).getBytes(StandardCharsets.UTF_8));
				words.setRowCount(1);
				ArrowRecordBatch values = new VectorUnloader(words).getRecordBatch();
				try (ArrowDictionaryBatch dictionary = new ArrowDictionaryBatch(ENCODING.getId(), values, i > 0)) {
					MessageSerializer.serialize(channel, dictionary);
				}
				int[] indexes = indexes(i);
				for (int row = 0; row < indexes.length; row++) {
					((IntVector) root.getVector(0)).setSafe(row, indexes[row]);
				}
				root.setRowCount(indexes.length);
				try (ArrowRecordBatch batch = new VectorUnloader(root).getRecordBatch()) {
					MessageSerializer.serialize(channel, batch);
				}
			}
		}
		channel.writeIntLittleEndian(MessageSerializer.IPC_CONTINUATION_TOKEN);
		channel.writeIntLittleEndian(0);
		return bytes.toByteArray();
	}

	private static int[] indexes(int batch) {
		return new int[] { 0, batch / 2, batch };
	}

	private static String word(int index) {
		return "word %04d".formatted(index);
	}

	private void assertValues(RecordBatchStream reader, int deltas) throws Exception {
		for (int i = 0; i < deltas; i++) {
			try (RecordBatch batch = EngineExtension.await(reader.next()).orElseThrow();
					OpenBatch open = batch.open(this.engine.allocator())) {
				FieldVector words = open.dictionaries().lookup(ENCODING.getId()).getVector();
				assertThat(words.getValueCount()).isEqualTo(i + 1);
				int[] indexes = indexes(i);
				assertThat(open.root().getRowCount()).isEqualTo(indexes.length);
				for (int row = 0; row < indexes.length; row++) {
					int index = ((IntVector) open.root().getVector(0)).get(row);
					assertThat(index).isEqualTo(indexes[row]);
					assertThat(words.getObject(index)).hasToString(word(index));
				}
			}
		}
		assertThat(EngineExtension.await(reader.next())).isEmpty();
	}

}
