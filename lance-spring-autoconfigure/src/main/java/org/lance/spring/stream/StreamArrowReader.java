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
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;

/**
 * The blocking view of a stream as an Arrow reader: loads each batch, and the dictionary
 * versions that changed with it, into vectors of its own.
 */
final class StreamArrowReader extends ArrowReader {

	static {
		StructConflicts.allow();
	}

	private final RecordBatchStream stream;

	private final Iterator<RecordBatch> batches;

	private final Map<Long, Dictionary> loaded = new TreeMap<>();

	private final Map<Long, DictionaryVersion> versions = new TreeMap<>();

	private @Nullable VectorSchemaRoot root;

	private @Nullable VectorLoader loader;

	/**
	 * The first batch, if it was needed to know the types of the dictionaries.
	 */
	private @Nullable RecordBatch peeked;

	private boolean closed;

	StreamArrowReader(RecordBatchStream stream, BufferAllocator allocator) {
		super(allocator);
		this.stream = stream;
		this.batches = stream.blocking();
	}

	@Override
	public VectorSchemaRoot getVectorSchemaRoot() throws IOException {
		if (this.root == null) {
			checkOpen();
			Map<Long, Field> fields = dictionaryFields();
			this.root = VectorSchemaRoot.create(this.stream.schema(), this.allocator);
			Map<Long, DictionaryEncoding> encodings = Dictionaries.encodings(this.stream.schema().getFields());
			Dictionaries.encodings(fields.values()).forEach(encodings::putIfAbsent);
			encodings.forEach((id, encoding) -> {
				Field field = fields.get(id);
				if (field != null) {
					this.loaded.put(id, new Dictionary(field.createVector(this.allocator), encoding));
				}
			});
		}
		return this.root;
	}

	/**
	 * The value fields of the dictionaries, which an exported schema needs before the
	 * first batch.
	 */
	private Map<Long, Field> dictionaryFields() throws IOException {
		Map<Long, Field> known = this.stream.dictionaryFields();
		if (known.keySet().containsAll(Dictionaries.encodings(this.stream.schema().getFields()).keySet())) {
			return known;
		}
		Map<Long, Field> fields = new TreeMap<>(known);
		this.peeked = nextBatch();
		if (this.peeked != null) {
			this.peeked.dictionaries().forEach((version) -> fields.put(version.id(), version.field()));
		}
		return fields;
	}

	private @Nullable RecordBatch nextBatch() throws IOException {
		RecordBatch first = this.peeked;
		if (first != null) {
			this.peeked = null;
			return first;
		}
		try {
			return this.batches.hasNext() ? this.batches.next() : null;
		}
		catch (CompletionException ex) {
			if (ex.getCause() instanceof IOException cause) {
				throw cause;
			}
			throw ex;
		}
	}

	@Override
	public boolean loadNextBatch() throws IOException {
		checkOpen();
		VectorSchemaRoot target = getVectorSchemaRoot();
		RecordBatch next = nextBatch();
		if (next == null) {
			target.setRowCount(0);
			return false;
		}
		try (RecordBatch batch = next) {
			for (DictionaryVersion version : batch.dictionaries()) {
				load(batch, version);
			}
			loader(target).load(batch.body());
			target.setRowCount(batch.rowCount());
		}
		return true;
	}

	private VectorLoader loader(VectorSchemaRoot target) {
		VectorLoader current = this.loader;
		if (current == null) {
			current = new VectorLoader(target);
			this.loader = current;
		}
		return current;
	}

	private void load(RecordBatch batch, DictionaryVersion version) {
		if (this.versions.get(version.id()) == version) {
			return;
		}
		DictionaryEncoding encoding = Dictionaries.encoding(batch.schema(), batch.dictionaries(), version.id());
		FieldVector vector = version.load(this.allocator);
		Dictionary before = this.loaded.put(version.id(), new Dictionary(vector, encoding));
		// Held, so that the identity of the version can't be that of a later one.
		DictionaryVersion last = this.versions.put(version.id(), version.retain());
		if (last != null) {
			last.close();
		}
		if (before != null) {
			before.getVector().close();
		}
	}

	private void checkOpen() throws IOException {
		if (this.closed) {
			throw new IOException("This reader is closed");
		}
	}

	@Override
	public Map<Long, Dictionary> getDictionaryVectors() throws IOException {
		getVectorSchemaRoot();
		return this.loaded;
	}

	@Override
	public @Nullable Dictionary lookup(long id) {
		return this.loaded.get(id);
	}

	@Override
	public Set<Long> getDictionaryIds() {
		return this.loaded.keySet();
	}

	@Override
	public long bytesRead() {
		return 0;
	}

	@Override
	protected void closeReadSource() {
		this.stream.close();
	}

	@Override
	public void close() throws IOException {
		close(true);
	}

	/**
	 * Closes the vectors. Over the C Data interface this may be called by any thread, but
	 * not while a batch is being loaded.
	 */
	@Override
	public void close(boolean closeReadSource) throws IOException {
		synchronized (this) {
			if (this.closed) {
				return;
			}
			this.closed = true;
		}
		try {
			Items.discard(this.peeked);
			if (this.root != null) {
				this.root.close();
			}
		}
		finally {
			try {
				this.loaded.values().forEach((dictionary) -> dictionary.getVector().close());
				this.versions.values().forEach(DictionaryVersion::close);
			}
			finally {
				if (closeReadSource) {
					closeReadSource();
				}
			}
		}
	}

	@Override
	protected Schema readSchema() {
		return this.stream.schema();
	}

	/**
	 * The base class would read the schema from a source of bytes.
	 */
	@Override
	protected void initialize() throws IOException {
		getVectorSchemaRoot();
	}

}
