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

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.arrow.c.ArrowArrayStream;
import org.apache.arrow.c.Data;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.Dataset;
import org.lance.WriteParams;
import org.lance.ipc.ScanOptions;

/**
 * The calls into native code. Each opens a handle of its own, because a handle is a
 * snapshot with a lock, and closes it. All block.
 */
final class NativeDatasets {

	private final BufferAllocator allocator;

	NativeDatasets(BufferAllocator allocator) {
		this.allocator = allocator;
	}

	/**
	 * Looks for a table.
	 * @return the table, or {@code null} if there is none
	 */
	@Nullable Existing find(String uri) {
		try (Dataset dataset = open(uri)) {
			return existing(dataset);
		}
		catch (LanceDatasetNotFoundException ex) {
			return null;
		}
		catch (Exception | LinkageError ex) {
			throw NativeFailures.ofRead(uri, ex);
		}
	}

	boolean exists(String uri) {
		try (Dataset dataset = open(uri)) {
			return true;
		}
		catch (LanceDatasetNotFoundException ex) {
			return false;
		}
	}

	long countRows(String uri) {
		try (Dataset dataset = open(uri)) {
			return dataset.countRows();
		}
		catch (RuntimeException | LinkageError ex) {
			throw NativeFailures.ofRead(uri, ex);
		}
	}

	LanceTable describe(String uri) {
		try (Dataset dataset = open(uri)) {
			return new LanceTable(dataset.version(), dataset.countRows(), existing(dataset).schema());
		}
		catch (Exception | LinkageError ex) {
			throw NativeFailures.ofRead(uri, ex);
		}
	}

	/**
	 * Writes what a reader reads, and closes it.
	 * @return the version that was committed
	 */
	long write(String uri, LanceWriteMode mode, WriteReader reader) throws IOException {
		try (reader; ArrowArrayStream stream = ArrowArrayStream.allocateNew(this.allocator)) {
			LanceLibrary.load();
			Data.exportArrayStream(this.allocator, reader, stream);
			try (Dataset dataset = Dataset.write()
				.allocator(this.allocator)
				.stream(stream)
				.uri(uri)
				.mode(WriteParams.WriteMode.valueOf(mode.name()))
				.execute()) {
				return dataset.version();
			}
			finally {
				// Native code takes the stream over, unless it refuses its arguments.
				if (stream.snapshot().release != 0) {
					stream.release();
				}
			}
		}
	}

	OpenScan scan(String uri, LanceScan scan) {
		Dataset dataset = open(uri);
		return OpenScan.open(uri, dataset, options(scan), this.allocator);
	}

	private static ScanOptions options(LanceScan scan) {
		ScanOptions.Builder options = new ScanOptions.Builder();
		if (!scan.columns().isEmpty()) {
			options.columns(scan.columns());
		}
		if (scan.filter() != null) {
			options.filter(scan.filter());
		}
		scan.limit().ifPresent(options::limit);
		scan.batchSize().ifPresent(options::batchSize);
		return options.build();
	}

	private Dataset open(String uri) {
		LanceLibrary.load();
		try {
			return Dataset.open().allocator(this.allocator).uri(uri).build();
		}
		catch (Exception | LinkageError ex) {
			throw NativeFailures.ofRead(uri, ex);
		}
	}

	/**
	 * {@link Dataset#getSchema()} forgets that a column has a dictionary, and
	 * {@code getLanceSchema()} fails then; a scan knows it.
	 */
	private static Existing existing(Dataset dataset) throws Exception {
		ScanOptions nothing = new ScanOptions.Builder().limit(0).build();
		try (org.lance.ipc.LanceScanner scanner = dataset.newScan(nothing);
				ArrowReader reader = scanner.scanBatches()) {
			Schema schema = reader.getVectorSchemaRoot().getSchema();
			return new Existing(schema, dictionaryFields(reader, schema.getFields(), new HashMap<>()));
		}
	}

	static Map<Long, Field> dictionaryFields(ArrowReader reader, List<Field> fields, Map<Long, Field> found) {
		for (Field field : fields) {
			if (field.getDictionary() != null) {
				long id = field.getDictionary().getId();
				found.put(id, reader.lookup(id).getVector().getField());
			}
			dictionaryFields(reader, field.getChildren(), found);
		}
		return found;
	}

	/**
	 * What a write needs to know of an existing table.
	 *
	 * @param schema the schema in memory format
	 * @param dictionaryFields the value fields of its dictionaries by id
	 */
	record Existing(Schema schema, Map<Long, Field> dictionaryFields) {

	}

}
