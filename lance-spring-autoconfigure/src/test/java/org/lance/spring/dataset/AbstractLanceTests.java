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

package org.lance.spring.dataset;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

/**
 * What tests of the template share: one with a background pool of one thread, and rows of
 * a number and a text.
 */
abstract class AbstractLanceTests {

	static final Schema SCHEMA = new Schema(List.of(Field.notNullable("id", new ArrowType.Int(64, true)),
			Field.nullable("name", new ArrowType.Utf8())));

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@TempDir
	Path directory;

	BackgroundExecutor background;

	LanceTemplate template;

	String uri;

	@BeforeEach
	void open() {
		this.background = this.engine.background(1);
		this.template = this.engine.closeLater(new LanceTemplate(this.engine.allocator(), this.background, 2));
		this.uri = this.directory.resolve("table.lance").toString();
	}

	/**
	 * More patient than usual: the first call loads 181 MB.
	 */
	static <T> T await(CompletionStage<T> stage) throws Exception {
		return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
	}

	static Throwable failure(CompletionStage<?> stage) throws Exception {
		try {
			Object result = await(stage);
			throw new AssertionError("Expected a failure, but got " + result);
		}
		catch (ExecutionException ex) {
			return ex.getCause();
		}
	}

	/**
	 * Rows {@code first} to {@code first + rows - 1}, every third name null.
	 */
	RecordBatch batch(int first, int rows) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(SCHEMA, this.engine.allocator())) {
			BigIntVector ids = (BigIntVector) root.getVector("id");
			VarCharVector names = (VarCharVector) root.getVector("name");
			for (int i = 0; i < rows; i++) {
				ids.setSafe(i, first + i);
				if ((first + i) % 3 != 0) {
					names.setSafe(i, ("name" + (first + i)).getBytes());
				}
			}
			root.setRowCount(rows);
			return RecordBatch.copyOf(root, null, this.engine.allocator());
		}
	}

	TestSource source(int batches, int rowsEach) {
		return source(batches, (i) -> batch(i * rowsEach, rowsEach));
	}

	TestSource source(int batches, IntFunction<RecordBatch> batch) {
		return source(SCHEMA, batches, batch);
	}

	TestSource source(Schema schema, int batches, IntFunction<RecordBatch> batch) {
		Iterator<RecordBatch> all = IntStream.range(0, batches).mapToObj(batch).iterator();
		return TestSource.of(schema, all, this.background);
	}

	LanceWriteResult write(TestSource source, LanceWriteMode mode) throws Exception {
		return await(this.template.write(this.uri, source, mode));
	}

	/**
	 * All rows of a scan as lists of values, dictionaries decoded.
	 */
	List<List<Object>> rows(LanceScan scan) throws Exception {
		RecordBatchStream stream = await(this.template.scan(this.uri, scan));
		List<List<Object>> rows = new ArrayList<>();
		for (RecordBatch batch : await(stream.collect())) {
			try (batch; OpenBatch open = batch.open(this.engine.allocator())) {
				rows.addAll(rows(open.root(), open.dictionaries()));
			}
		}
		return rows;
	}

	static List<List<Object>> rows(VectorSchemaRoot root, DictionaryProvider dictionaries) {
		List<List<Object>> rows = new ArrayList<>();
		for (int i = 0; i < root.getRowCount(); i++) {
			List<Object> row = new ArrayList<>();
			for (FieldVector vector : root.getFieldVectors()) {
				row.add(Values.of(vector, i, dictionaries));
			}
			rows.add(row);
		}
		return rows;
	}

	List<Long> ids() throws Exception {
		return rows(LanceScan.all()).stream().map((row) -> (Long) row.get(0)).sorted().toList();
	}

	static List<Long> range(int from, int to) {
		return IntStream.range(from, to).mapToObj(Long::valueOf).toList();
	}

}
