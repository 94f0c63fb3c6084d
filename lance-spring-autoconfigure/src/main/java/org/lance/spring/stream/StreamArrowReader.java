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

	private final RecordBatchStream stream;

	private final Iterator<RecordBatch> batches;

	private final Map<Long, Dictionary> loaded = new TreeMap<>();

	private final Map<Long, DictionaryVersion> versions = new TreeMap<>();

	private @Nullable VectorSchemaRoot root;

	private boolean closed;

	StreamArrowReader(RecordBatchStream stream, BufferAllocator allocator) {
		super(allocator);
		this.stream = stream;
		this.batches = stream.blocking();
	}

	@Override
	public VectorSchemaRoot getVectorSchemaRoot() {
		if (this.root == null) {
			this.root = VectorSchemaRoot.create(this.stream.schema(), this.allocator);
			Map<Long, DictionaryEncoding> encodings = Dictionaries.encodings(this.stream.schema().getFields());
			this.stream.dictionaryFields().forEach((id, field) -> {
				DictionaryEncoding encoding = encodings.get(id);
				if (encoding != null) {
					this.loaded.put(id, new Dictionary(field.createVector(this.allocator), encoding));
				}
			});
		}
		return this.root;
	}

	@Override
	public boolean loadNextBatch() throws IOException {
		VectorSchemaRoot target = getVectorSchemaRoot();
		if (!this.batches.hasNext()) {
			target.setRowCount(0);
			return false;
		}
		try (RecordBatch batch = this.batches.next()) {
			for (DictionaryVersion version : batch.dictionaries()) {
				load(batch, version);
			}
			new VectorLoader(target).load(batch.body());
			target.setRowCount(batch.rowCount());
		}
		return true;
	}

	private void load(RecordBatch batch, DictionaryVersion version) {
		if (this.versions.get(version.id()) == version) {
			return;
		}
		FieldVector vector = version.load(this.allocator);
		Dictionary before = this.loaded.put(version.id(),
				new Dictionary(vector, Dictionaries.encoding(batch.schema(), batch.dictionaries(), version.id())));
		if (before != null) {
			before.getVector().close();
		}
		// Held, so that the identity of the version can't be that of a later one.
		DictionaryVersion last = this.versions.put(version.id(), version.retain());
		if (last != null) {
			last.close();
		}
	}

	@Override
	public Map<Long, Dictionary> getDictionaryVectors() {
		getVectorSchemaRoot();
		return this.loaded;
	}

	@Override
	public @Nullable Dictionary lookup(long id) {
		return getDictionaryVectors().get(id);
	}

	@Override
	public Set<Long> getDictionaryIds() {
		return getDictionaryVectors().keySet();
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

	@Override
	public void close(boolean closeReadSource) throws IOException {
		synchronized (this) {
			if (this.closed) {
				return;
			}
			this.closed = true;
		}
		if (this.root != null) {
			this.root.close();
		}
		this.loaded.values().forEach((dictionary) -> dictionary.getVector().close());
		this.versions.values().forEach(DictionaryVersion::close);
		if (closeReadSource) {
			closeReadSource();
		}
	}

	@Override
	protected Schema readSchema() {
		return this.stream.schema();
	}

	/**
	 * Only for {@link Field} based schema reading of the base class, which is not used.
	 */
	@Override
	protected void initialize() {
		getVectorSchemaRoot();
	}

}
