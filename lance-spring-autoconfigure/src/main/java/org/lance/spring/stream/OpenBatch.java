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

import java.util.ArrayList;
import java.util.List;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;

/**
 * A record batch as ordinary Arrow vectors, which share its memory and must not be
 * written.
 * <p>
 * <b>Ownership.</b> Whoever opened it closes it; it is valid until then, also when the
 * batch is closed before. <b>Threads.</b> As Arrow's vectors: one thread at a time.
 *
 * @since 0.1.0
 */
public final class OpenBatch implements AutoCloseable {

	static {
		StructConflicts.allow();
	}

	private final VectorSchemaRoot root;

	private final DictionaryProvider.MapDictionaryProvider dictionaries;

	private final List<FieldVector> dictionaryVectors;

	private boolean closed;

	private OpenBatch(VectorSchemaRoot root, DictionaryProvider.MapDictionaryProvider dictionaries,
			List<FieldVector> dictionaryVectors) {
		this.root = root;
		this.dictionaries = dictionaries;
		this.dictionaryVectors = dictionaryVectors;
	}

	static OpenBatch load(RecordBatch batch, BufferAllocator allocator) {
		DictionaryProvider.MapDictionaryProvider dictionaries = new DictionaryProvider.MapDictionaryProvider();
		List<FieldVector> vectors = new ArrayList<>();
		VectorSchemaRoot root = VectorSchemaRoot.create(batch.schema(), allocator);
		try {
			new VectorLoader(root).load(batch.body());
			root.setRowCount(batch.rowCount());
			for (DictionaryVersion version : batch.dictionaries()) {
				FieldVector vector = version.load(allocator);
				vectors.add(vector);
				DictionaryEncoding encoding = Dictionaries.encoding(batch.schema(), batch.dictionaries(), version.id());
				dictionaries.put(new Dictionary(vector, encoding));
			}
			return new OpenBatch(root, dictionaries, vectors);
		}
		catch (Throwable ex) {
			try {
				vectors.forEach(FieldVector::close);
			}
			finally {
				root.close();
			}
			throw ex;
		}
	}

	/**
	 * Returns the columns.
	 * @return the root, closed with this object
	 */
	public VectorSchemaRoot root() {
		return this.root;
	}

	/**
	 * Returns the dictionaries of the columns, as they were at this batch.
	 * @return the dictionaries, closed with this object
	 */
	public DictionaryProvider dictionaries() {
		return this.dictionaries;
	}

	/**
	 * Closes the vectors.
	 */
	@Override
	public void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		try {
			this.root.close();
		}
		finally {
			this.dictionaryVectors.forEach(FieldVector::close);
		}
	}

}
