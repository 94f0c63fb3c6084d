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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.IntFunction;

import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.arrow.vector.util.Text;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.stream.AsyncStep;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.stream.SchemaMismatchException;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Spills of dictionary columns.
 */
class SpillDictionaryFieldsTests {

	private static final DictionaryEncoding ENCODING = new DictionaryEncoding(7, false, new ArrowType.Int(32, true));

	private static final Schema SCHEMA = new Schema(
			List.of(new Field("word", new FieldType(true, new ArrowType.Int(32, true), ENCODING), null)));

	private static final Field WORDS = Field.nullable("words", ArrowType.Utf8.INSTANCE);

	@Order(1)
	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@Order(2)
	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@TempDir
	java.nio.file.Path directory;

	private SpillHarness harness;

	@BeforeEach
	void setUp() {
		this.harness = new SpillHarness(this.engine,
				new FileSpillStore(() -> this.directory, this.engine.allocator(), ReadMode.MAP), 1);
	}

	private RecordBatch words(String... words) {
		try (VarCharVector values = new VarCharVector(WORDS, this.engine.allocator())) {
			for (int i = 0; i < words.length; i++) {
				values.setSafe(i, new Text(words[i]));
			}
			values.setValueCount(words.length);
			return batch(values, words.length);
		}
	}

	private RecordBatch numbers() {
		try (BigIntVector values = new BigIntVector("numbers", this.engine.allocator())) {
			values.setSafe(0, 42);
			values.setValueCount(1);
			return batch(values, 1);
		}
	}

	private RecordBatch batch(FieldVector values, int rows) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(SCHEMA, this.engine.allocator())) {
			for (int i = 0; i < rows; i++) {
				((IntVector) root.getVector(0)).setSafe(i, i);
			}
			root.setRowCount(rows);
			return RecordBatch.copyOf(root,
					new DictionaryProvider.MapDictionaryProvider(new Dictionary(values, ENCODING)),
					this.engine.allocator());
		}
	}

	private List<String> decode(RecordBatch batch) {
		List<String> words = new ArrayList<>();
		try (batch; OpenBatch open = batch.open(this.engine.allocator())) {
			FieldVector values = open.dictionaries().lookup(7).getVector();
			for (int i = 0; i < open.root().getRowCount(); i++) {
				words.add(String.valueOf(values.getObject(((IntVector) open.root().getVector(0)).get(i))));
			}
		}
		return words;
	}

	@ParameterizedTest
	@EnumSource
	void eachBatchKeepsItsOwnDictionary(Place place) throws Exception {
		ReplaySpill spill = this.harness.manager.createReplaySpill(SCHEMA, place.options());
		SpillSender sender = spill.sender();
		RecordBatchStream early = spill.receiver().read();
		String[][] all = { { "one", "two" }, { "uno", "dos" }, { "eins", "zwei", "drei" }, { "one", "two" } };
		for (String[] words : all) {
			try (RecordBatch batch = words(words)) {
				EngineExtension.await(sender.write(batch));
			}
		}
		EngineExtension.await(sender.finish());
		for (RecordBatchStream reader : List.of(early, spill.receiver().read())) {
			// All are held before the first is decoded.
			List<RecordBatch> batches = EngineExtension.await(reader.collect());
			assertThat(batches.stream().map(this::decode)).containsExactly(List.of("one", "two"), List.of("uno", "dos"),
					List.of("eins", "zwei", "drei"), List.of("one", "two"));
		}
	}

	/**
	 * Each batch has a dictionary of one value more, so that none is taken for another.
	 */
	@ParameterizedTest
	@EnumSource
	void valuesOfUnusualTypesAreKept(Place place) throws Exception {
		int batches = 12;
		for (IntFunction<FieldVector> type : SpillDictionaryTests.types(this.engine.allocator())) {
			long written = this.harness.manager.statistics().writes();
			ReplaySpill spill = this.harness.manager.createReplaySpill(SCHEMA, place.options());
			SpillSender sender = spill.sender();
			for (int i = 1; i <= batches; i++) {
				try (FieldVector values = type.apply(i); RecordBatch batch = batch(values, i)) {
					EngineExtension.await(sender.write(batch));
				}
			}
			EngineExtension.await(sender.finish());
			List<RecordBatch> read = EngineExtension.await(spill.receiver().read().collect());
			assertThat(read).hasSize(batches);
			for (int i = 1; i <= batches; i++) {
				try (FieldVector values = type.apply(i)) {
					assertValues(read.get(i - 1), values);
				}
			}
			assertThat(this.harness.manager.statistics().writes() - written)
				.isEqualTo((place == Place.MEMORY) ? 0 : batches);
			spill.close();
		}
	}

	private void assertValues(RecordBatch taken, FieldVector expected) {
		try (RecordBatch batch = taken; OpenBatch open = batch.open(this.engine.allocator())) {
			FieldVector values = open.dictionaries().lookup(7).getVector();
			assertThat(values.getField()).isEqualTo(expected.getField());
			assertThat(values.getValueCount()).isEqualTo(expected.getValueCount());
			assertThat(open.root().getRowCount()).isEqualTo(expected.getValueCount());
			for (int i = 0; i < expected.getValueCount(); i++) {
				assertThat(((IntVector) open.root().getVector(0)).get(i)).isEqualTo(i);
				assertThat(values.getObject(i)).as("%s", values.getField()).isEqualTo(expected.getObject(i));
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void dictionaryOfAnotherTypeIsRefused(Place place) throws Exception {
		ReplaySpill spill = this.harness.manager.createReplaySpill(SCHEMA, place.options());
		SpillSender sender = spill.sender();
		assertThat(spill.receiver().read().dictionaryFields()).isEmpty();
		try (RecordBatch batch = words("one")) {
			EngineExtension.await(sender.write(batch));
		}
		assertThat(spill.receiver().read().dictionaryFields()).isEqualTo(Map.of(7L, WORDS));
		try (RecordBatch batch = numbers()) {
			assertThat(SpillHarness.failure(sender.write(batch))).isInstanceOf(SchemaMismatchException.class)
				.hasMessageContaining("Dictionary 7");
		}
		try (RecordBatch batch = words("two")) {
			EngineExtension.await(sender.write(batch));
		}
		EngineExtension.await(sender.finish());
		List<RecordBatch> batches = EngineExtension.await(spill.receiver().read().collect());
		assertThat(batches.stream().map(this::decode)).containsExactly(List.of("one"), List.of("two"));
	}

	@Test
	void dictionariesOfAnEmptySourceAreKnownToReaders() throws Exception {
		RecordBatchStream empty = RecordBatchStream.from(SCHEMA, Map.of(7L, WORDS), new AsyncStep<>() {

			@Override
			public CompletionStage<Optional<RecordBatch>> advance() {
				return CompletableFuture.completedFuture(Optional.empty());
			}

			@Override
			public CompletionStage<Void> release() {
				return CompletableFuture.completedFuture(null);
			}

		});
		SpillReceiver receiver = this.harness.manager.spill(StreamingWriteSource.of(empty));
		EngineExtension.await(receiver.written());
		assertThat(receiver.read().dictionaryFields()).isEqualTo(Map.of(7L, WORDS));
		assertThat(receiver.source().dictionaryFields()).isEqualTo(Map.of(7L, WORDS));
	}

}
