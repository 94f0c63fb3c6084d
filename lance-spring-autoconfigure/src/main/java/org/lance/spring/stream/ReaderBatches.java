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
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * What a reader reads, as sealed batches. Arrow's own IPC and C Data readers replace
 * their buffers with each batch, so these are shared; any other reader may refill them in
 * place, so they are copied.
 * <p>
 * Public for the other packages of this library only; may change in any release.
 *
 * @since 0.1.0
 */
public final class ReaderBatches implements Iterator<RecordBatch>, AutoCloseable {

	/**
	 * Named by text: arrow-c-data is optional.
	 */
	private static final String C_DATA_READER = "org.apache.arrow.c.ArrowArrayStreamReader";

	private final ArrowReader reader;

	private final VectorSchemaRoot root;

	private final BatchSealer sealer;

	private boolean loaded;

	private boolean over;

	/**
	 * Opens a reader; getting its schema may block.
	 * @param reader the reader, taken over unless this throws; its allocator is not
	 * @param allocator where batches go whose memory can't be shared
	 * @throws IOException if the schema can't be read
	 */
	public ReaderBatches(ArrowReader reader, BufferAllocator allocator) throws IOException {
		this.reader = reader;
		this.root = reader.getVectorSchemaRoot();
		this.sealer = new BatchSealer(this.root.getSchema(), allocator,
				replacesBuffers(reader) ? BatchSealer.Mode.SHARE : BatchSealer.Mode.COPY);
	}

	private static boolean replacesBuffers(ArrowReader reader) {
		return reader.getClass() == ArrowStreamReader.class || reader.getClass() == ArrowFileReader.class
				|| reader.getClass().getName().equals(C_DATA_READER);
	}

	/**
	 * Returns the schema.
	 * @return the schema in memory format
	 */
	public Schema schema() {
		return this.root.getSchema();
	}

	/**
	 * Returns the value fields of the dictionaries, nested ones too, as far as the reader
	 * knows them.
	 * @return the fields by id
	 */
	public Map<Long, Field> dictionaryFields() {
		Map<Long, Field> fields = new HashMap<>();
		collect(schema().getFields(), fields);
		return fields;
	}

	private void collect(List<Field> from, Map<Long, Field> fields) {
		for (Long id : Dictionaries.encodings(from).keySet()) {
			Dictionary dictionary = fields.containsKey(id) ? null : this.reader.lookup(id);
			if (dictionary != null) {
				Field values = dictionary.getVector().getField();
				fields.put(id, values);
				collect(List.of(values), fields);
			}
		}
	}

	@Override
	public boolean hasNext() {
		if (!this.loaded && !this.over) {
			try {
				this.loaded = this.reader.loadNextBatch();
			}
			catch (IOException ex) {
				throw sneaky(ex);
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
		DictionaryProvider dictionaries = this.reader;
		return this.sealer.seal(this.root, dictionaries);
	}

	@Override
	public void close() throws IOException {
		try (this.sealer) {
			this.reader.close();
		}
	}

	/**
	 * An iterator can't declare it, yet the caller is to get the very exception.
	 */
	@SuppressWarnings("unchecked")
	private static <E extends Throwable> RuntimeException sneaky(Throwable failure) throws E {
		throw (E) failure;
	}

}
