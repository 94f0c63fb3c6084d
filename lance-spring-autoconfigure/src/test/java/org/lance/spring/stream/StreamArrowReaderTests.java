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

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;

import org.apache.arrow.c.ArrowArrayStream;
import org.apache.arrow.c.Data;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.testing.ArrowTypes;
import org.lance.spring.testing.CellComparison;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.GeneratedBody;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class StreamArrowReaderTests {

	private static final ArrowType.Int INDEX = new ArrowType.Int(8, true);

	private static final DictionaryProvider NONE = new DictionaryProvider.MapDictionaryProvider();

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	static List<Field> allTypes() {
		return ArrowTypes.all();
	}

	@ParameterizedTest
	@MethodSource("allTypes")
	void whenReadOrExportedOverCDataThenEveryTypeComesOutTheSame(Field field) throws Exception {
		for (boolean export : new boolean[] { false, true }) {
			Schema schema = new Schema(List.of(field), Map.of("k", "v"));
			List<List<List<Object>>> truth = new ArrayList<>();
			List<RecordBatch> batches = new ArrayList<>();
			for (int rows : new int[] { 5, 0, 30 }) {
				try (GeneratedBody body = GeneratedBody.of(List.of(field), rows, this.engine.allocator(), 9, 0.3);
						VectorSchemaRoot root = body.root()) {
					truth.add(CellComparison.cells(root, NONE));
					batches.add(RecordBatch.seal(schema, body.body(), List.of(), this.engine.allocator()));
				}
			}
			try (ArrowReader reader = open(stream(schema, Map.of(), batches), export)) {
				VectorSchemaRoot root = reader.getVectorSchemaRoot();
				assertThat(root.getSchema().getCustomMetadata()).containsEntry("k", "v");
				for (List<List<Object>> expected : truth) {
					assertThat(reader.loadNextBatch()).isTrue();
					assertThat(CellComparison.cells(root, NONE)).isEqualTo(expected);
				}
				assertThat(reader.loadNextBatch()).isFalse();
				assertThat(reader.loadNextBatch()).isFalse();
			}
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void whenDictionaryChangesThenItIsLoadedAnewAndOtherwiseNot(boolean known) throws Exception {
		Field column = ArrowTypes.indexes("d", 3, INDEX);
		Field nested = ArrowTypes.field("l", ArrowType.List.INSTANCE, column);
		Schema schema = new Schema(List.of(column, nested));
		Field values = ArrowTypes.field("v", ArrowTypes.UTF8);
		DictionaryVersion first = version(values, 5, 1, null);
		DictionaryVersion second = version(values, 3, 2, first);
		DictionaryVersion third = version(values, 9, 3, null);
		for (boolean export : new boolean[] { false, true }) {
			List<RecordBatch> batches = new ArrayList<>();
			List<List<List<Object>>> truth = new ArrayList<>();
			for (DictionaryVersion version : List.of(first, first, second, third)) {
				try (GeneratedBody body = GeneratedBody.of(schema.getFields(), 20, this.engine.allocator(), 5, 0.2)) {
					RecordBatch batch = RecordBatch.seal(schema, body.body(), List.of(version),
							this.engine.allocator());
					batches.add(batch);
					try (OpenBatch open = batch.open(this.engine.allocator())) {
						truth.add(CellComparison.cells(open.root(), open.dictionaries()));
					}
				}
			}
			RecordBatchStream stream = stream(schema, known ? Map.of(3L, values) : Map.of(), batches);
			try (ArrowReader reader = open(stream, export)) {
				VectorSchemaRoot root = reader.getVectorSchemaRoot();
				List<FieldVector> dictionaries = new ArrayList<>();
				for (List<List<Object>> expected : truth) {
					assertThat(reader.loadNextBatch()).isTrue();
					assertThat(CellComparison.cells(root, reader)).isEqualTo(expected);
					dictionaries.add(reader.getDictionaryVectors().values().iterator().next().getVector());
				}
				if (!export) {
					assertThat(dictionaries.get(1)).isSameAs(dictionaries.get(0));
					assertThat(dictionaries.get(2)).isNotSameAs(dictionaries.get(1));
					assertThat(dictionaries.get(3)).isNotSameAs(dictionaries.get(2));
					assertThat(reader.getDictionaryIds()).containsExactly(3L);
				}
				assertThat(reader.loadNextBatch()).isFalse();
			}
		}
		first.close();
		second.close();
		third.close();
	}

	@Test
	void whenStreamIsEmptyAndItsDictionariesUnknownThenTheReaderSaysEnd() throws Exception {
		Schema schema = new Schema(List.of(ArrowTypes.indexes("d", 3, INDEX)));
		try (ArrowReader reader = open(stream(schema, Map.of(), List.of()), false)) {
			assertThat(reader.getVectorSchemaRoot().getSchema()).isEqualTo(schema);
			assertThat(reader.getDictionaryVectors()).isEmpty();
			assertThat(reader.loadNextBatch()).isFalse();
		}
	}

	@Test
	void whenReaderIsClosedAfterItLookedAtTheFirstBatchThenNothingIsLeft() throws Exception {
		Field column = ArrowTypes.indexes("d", 3, INDEX);
		Schema schema = new Schema(List.of(column));
		try (DictionaryVersion version = version(ArrowTypes.field("v", ArrowTypes.UTF8), 5, 1, null);
				GeneratedBody body = GeneratedBody.of(schema.getFields(), 20, this.engine.allocator(), 5, 0.2)) {
			RecordBatch batch = RecordBatch.seal(schema, body.body(), List.of(version), this.engine.allocator());
			ArrowReader reader = open(stream(schema, Map.of(), List.of(batch)), false);
			assertThat(reader.getVectorSchemaRoot().getRowCount()).isZero();
			reader.close();
			reader.close();
			assertThatExceptionOfType(IOException.class).isThrownBy(reader::loadNextBatch)
				.withMessageContaining("closed");
		}
	}

	@Test
	void whenSourceFailsThenTheReaderThrowsThatFailureEveryTime() throws Exception {
		Schema schema = new Schema(List.of(ArrowTypes.field("a", ArrowTypes.INT32)));
		IOException failure = new IOException("broken source");
		RecordBatchStream stream = RecordBatchStream.background(schema, Map.of(), failing(failure),
				this.engine.background(1), 1);
		try (ArrowReader reader = stream.toReader(this.engine.allocator())) {
			assertThatExceptionOfType(IOException.class).isThrownBy(reader::loadNextBatch).isSameAs(failure);
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(reader::loadNextBatch).withCause(failure);
		}
		RecordBatchStream exported = RecordBatchStream.background(schema, Map.of(), failing(failure),
				this.engine.background(1), 1);
		try (ArrowReader reader = open(exported, true)) {
			assertThatExceptionOfType(IOException.class).isThrownBy(reader::loadNextBatch)
				.withMessageContaining("broken source");
		}
	}

	private static Iterator<RecordBatch> failing(IOException failure) {
		return new Iterator<>() {

			@Override
			public boolean hasNext() {
				WatchedIterator.sneaky(failure);
				return true;
			}

			@Override
			public RecordBatch next() {
				throw new AssertionError();
			}

		};
	}

	@Test
	void whenStreamIsClosedThenTheReaderIsToldSo() throws Exception {
		Schema schema = new Schema(List.of(ArrowTypes.field("a", ArrowTypes.INT32)));
		RecordBatchStream stream = stream(schema, Map.of(), List.of());
		try (ArrowReader reader = stream.toReader(this.engine.allocator())) {
			stream.close();
			assertThatExceptionOfType(CancellationException.class).isThrownBy(reader::loadNextBatch);
		}
	}

	@Test
	void whenBatchIsCapturedThenLoadingTheNextDoesNotChangeIt() throws Exception {
		Schema schema = new Schema(List.of(ArrowTypes.field("a", ArrowTypes.UTF8)));
		List<RecordBatch> batches = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			try (GeneratedBody body = GeneratedBody.of(schema.getFields(), 20, this.engine.allocator(), i, 0.2)) {
				batches.add(RecordBatch.seal(schema, body.body(), List.of(), this.engine.allocator()));
			}
		}
		try (ArrowReader reader = stream(schema, Map.of(), batches).toReader(this.engine.allocator());
				BatchSealer sealer = new BatchSealer(schema, this.engine.allocator(), BatchSealer.Mode.SHARE)) {
			assertThat(reader.loadNextBatch()).isTrue();
			List<List<Object>> truth = CellComparison.cells(reader.getVectorSchemaRoot(), NONE);
			try (RecordBatch captured = sealer.seal(reader.getVectorSchemaRoot(), reader)) {
				assertThat(reader.loadNextBatch()).isTrue();
				try (OpenBatch open = captured.open(this.engine.allocator())) {
					assertThat(CellComparison.cells(open.root(), NONE)).isEqualTo(truth);
				}
			}
		}
	}

	@Test
	void whenReadOnAThreadOfTheEngineThenItIsRefused() throws Exception {
		Schema schema = new Schema(List.of(ArrowTypes.field("a", ArrowTypes.INT32)));
		RecordBatchStream stream = stream(schema, Map.of(), List.of());
		try (ArrowReader reader = stream.toReader(this.engine.allocator())) {
			EngineThreads
				.run(() -> assertThatExceptionOfType(IllegalStateException.class).isThrownBy(reader::loadNextBatch)
					.withMessageContaining("belongs to the engine"));
		}
	}

	private DictionaryVersion version(Field field, int size, long seed, DictionaryVersion previous) {
		try (GeneratedBody body = GeneratedBody.of(List.of(field), size, this.engine.allocator(), seed, 0)) {
			return DictionaryVersion.seal(3, field, body.body(), previous, this.engine.allocator());
		}
	}

	private RecordBatchStream stream(Schema schema, Map<Long, Field> fields, List<RecordBatch> batches) {
		return RecordBatchStream.background(schema, fields, batches.iterator(), this.engine.background(1), 1);
	}

	private ArrowReader open(RecordBatchStream stream, boolean export) {
		ArrowReader reader = stream.toReader(this.engine.allocator());
		if (!export) {
			return reader;
		}
		RootAllocator importer = this.engine.closeLater(new RootAllocator());
		try (ArrowArrayStream exported = ArrowArrayStream.allocateNew(this.engine.allocator())) {
			Data.exportArrayStream(this.engine.allocator(), reader, exported);
			return Data.importArrayStream(importer, exported);
		}
	}

}
