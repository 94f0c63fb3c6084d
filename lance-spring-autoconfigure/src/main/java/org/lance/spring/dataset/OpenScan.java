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
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.Dataset;
import org.lance.ipc.LanceScanner;
import org.lance.ipc.ScanOptions;
import org.lance.spring.stream.BatchSealer;
import org.lance.spring.stream.RecordBatch;

/**
 * A scan that is open: its batches, and the native handles behind them. Not for several
 * threads at once; blocks.
 */
final class OpenScan implements Iterator<RecordBatch>, AutoCloseable {

	private final String uri;

	private final ArrowReader reader;

	private final List<AutoCloseable> handles;

	private final VectorSchemaRoot root;

	private final BatchSealer sealer;

	private final Map<Long, Field> dictionaryFields;

	private boolean loaded;

	private boolean over;

	/**
	 * Creates a scan.
	 * @param uri the dataset
	 * @param reader reads the batches, taken over
	 * @param allocator for the batches
	 * @param handles what is behind the reader, taken over; closed after it, in this
	 * order
	 * @throws IOException if there is no schema; all that was taken over stays open then
	 */
	OpenScan(String uri, ArrowReader reader, BufferAllocator allocator, AutoCloseable... handles) throws IOException {
		this.uri = uri;
		this.reader = reader;
		this.handles = List.of(handles);
		this.root = reader.getVectorSchemaRoot();
		this.dictionaryFields = NativeDatasets.dictionaryFields(reader, schema().getFields(), new HashMap<>());
		// Each batch is imported into buffers of its own.
		this.sealer = new BatchSealer(schema(), allocator, BatchSealer.Mode.SHARE);
	}

	/**
	 * Opens a scan.
	 * @param dataset the dataset, taken over
	 */
	static OpenScan open(String uri, Dataset dataset, ScanOptions options, BufferAllocator allocator) {
		LanceScanner scanner = null;
		ArrowReader reader = null;
		try {
			scanner = dataset.newScan(options);
			reader = scanner.scanBatches();
			return new OpenScan(uri, reader, allocator, scanner, dataset);
		}
		catch (Exception | LinkageError ex) {
			LanceException failure = NativeFailures.ofRead(uri, ex);
			close(failure, reader, scanner, dataset);
			throw failure;
		}
	}

	Schema schema() {
		return this.root.getSchema();
	}

	Map<Long, Field> dictionaryFields() {
		return this.dictionaryFields;
	}

	@Override
	public boolean hasNext() {
		if (!this.loaded && !this.over) {
			try {
				this.loaded = this.reader.loadNextBatch();
			}
			catch (Exception ex) {
				throw NativeFailures.ofRead(this.uri, ex);
			}
			this.over = !this.loaded;
		}
		return this.loaded;
	}

	@Override
	public RecordBatch next() {
		if (!hasNext()) {
			throw new NoSuchElementException();
		}
		this.loaded = false;
		return this.sealer.seal(this.root, this.reader);
	}

	@Override
	public void close() {
		LanceReadException failure = new LanceReadException("Closing a scan of '%s' failed".formatted(this.uri),
				this.uri, null);
		close(failure);
		if (failure.getSuppressed().length > 0) {
			throw failure;
		}
	}

	/**
	 * Closes this scan because of a failure.
	 * @param failure the failure, to which those of closing are added
	 */
	void close(Throwable failure) {
		close(failure, this.sealer, this.reader);
		close(failure, this.handles.toArray(AutoCloseable[]::new));
	}

	private static void close(Throwable failure, @Nullable AutoCloseable... resources) {
		for (AutoCloseable resource : resources) {
			try {
				if (resource != null) {
					resource.close();
				}
			}
			catch (Throwable ex) {
				failure.addSuppressed(ex);
			}
		}
	}

}
