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

package org.lance.spring.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.JsonFileReader;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The golden and the malformed Arrow IPC inputs under {@code src/test/resources}, and the
 * comparison of batches with the truth in Arrow's integration JSON. Dictionary ids and
 * the child names of maps are not compared: writers renumber and rename them.
 */
public final class GoldenFiles {

	private static final Path ROOT = Path.of("src/test/resources/arrow-testing");

	private static final Path GOLDEN = ROOT.resolve("1.0.0-littleendian");

	private static final String STREAM = ".stream";

	private static final Map<String, Truth> truths = new ConcurrentHashMap<>();

	private GoldenFiles() {
	}

	/**
	 * All golden tables by name, such as {@code generated_union}.
	 */
	public static List<String> names() {
		try (Stream<Path> files = Files.list(GOLDEN)) {
			return files.map((file) -> file.getFileName().toString())
				.filter((file) -> file.endsWith(STREAM))
				.map((file) -> file.substring(0, file.length() - STREAM.length()))
				.sorted()
				.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A golden table in the IPC stream format.
	 */
	public static Path stream(String name) {
		return GOLDEN.resolve(name + STREAM);
	}

	/**
	 * A golden table in the IPC file format.
	 */
	public static Path file(String name) {
		return GOLDEN.resolve(name + ".arrow_file");
	}

	/**
	 * All golden inputs, streams and files.
	 */
	public static List<Path> inputs() {
		return names().stream().flatMap((name) -> Stream.of(stream(name), file(name))).toList();
	}

	/**
	 * All malformed inputs, streams and files.
	 */
	public static List<Path> malformed() {
		return Stream.of("fuzz-stream", "fuzz-file").flatMap((folder) -> {
			try (Stream<Path> files = Files.list(ROOT.resolve(folder))) {
				return files.sorted().toList().stream();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}).toList();
	}

	/**
	 * The name of the table that a golden input has.
	 */
	public static String name(Path input) {
		String file = input.getFileName().toString();
		return file.substring(0, file.lastIndexOf('.'));
	}

	/**
	 * Asserts that batches are those of a golden table, cell by cell. Does not close
	 * them.
	 * @param name the name of the table
	 * @param schema the schema that was read, in memory format
	 * @param batches the batches that were read
	 */
	public static void assertEqual(String name, Schema schema, List<RecordBatch> batches) throws IOException {
		Truth truth = truth(name);
		CellComparison.assertSameFields(truth.fields(), schema.getFields());
		assertThat(batches).as("batches of %s", name).hasSameSizeAs(truth.batches());
		try (BufferAllocator allocator = new RootAllocator()) {
			for (int i = 0; i < batches.size(); i++) {
				assertEqual(name + ", batch " + i, truth, i, batches.get(i), allocator);
			}
		}
	}

	private static void assertEqual(String what, Truth truth, int index, RecordBatch batch, BufferAllocator allocator) {
		assertThat(batch.rowCount()).as("rows of %s", what).isEqualTo(truth.rows().get(index));
		try (OpenBatch open = batch.open(allocator)) {
			CellComparison.assertSameCells(what, truth.batches().get(index), open.root(), open.dictionaries());
		}
	}

	/**
	 * The JSON takes long to read, and is the same for all tests.
	 */
	private static Truth truth(String name) throws IOException {
		Truth known = truths.get(name);
		if (known == null) {
			known = readTruth(name);
			truths.put(name, known);
		}
		return known;
	}

	private static Truth readTruth(String name) throws IOException {
		Path json = Files.createTempFile(name, ".json");
		try (BufferAllocator allocator = new RootAllocator()) {
			try (InputStream packed = new GZIPInputStream(Files.newInputStream(GOLDEN.resolve(name + ".json.gz")))) {
				Files.copy(packed, json, StandardCopyOption.REPLACE_EXISTING);
			}
			try (JsonFileReader reader = new JsonFileReader(json.toFile(), allocator)) {
				List<Field> fields = reader.start().getFields();
				List<List<List<@Nullable Object>>> batches = new ArrayList<>();
				List<Integer> rows = new ArrayList<>();
				for (VectorSchemaRoot root = reader.read(); root != null; root = reader.read()) {
					try (VectorSchemaRoot batch = root) {
						rows.add(batch.getRowCount());
						batches.add(CellComparison.cells(batch, reader));
					}
				}
				reader.getDictionaryIds().forEach((id) -> reader.lookup(id).getVector().close());
				return new Truth(fields, rows, batches);
			}
		}
		finally {
			Files.delete(json);
		}
	}

	private record Truth(List<Field> fields, List<Integer> rows, List<List<List<@Nullable Object>>> batches) {

	}

}
