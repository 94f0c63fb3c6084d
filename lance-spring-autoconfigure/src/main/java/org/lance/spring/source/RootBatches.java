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

package org.lance.spring.source;

import java.util.Iterator;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.BatchSealer;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.SizeHint;

/**
 * Copies the roots of a producer, each before the next is asked for.
 */
final class RootBatches implements Iterator<RecordBatch>, AutoCloseable, SizeHint.Provider {

	private final Iterator<VectorSchemaRoot> roots;

	private final @Nullable DictionaryProvider dictionaries;

	private final BatchSealer sealer;

	RootBatches(Schema schema, @Nullable DictionaryProvider dictionaries, Iterator<VectorSchemaRoot> roots,
			BufferAllocator allocator) {
		this.roots = roots;
		this.dictionaries = dictionaries;
		this.sealer = new BatchSealer(schema, allocator, BatchSealer.Mode.COPY);
	}

	@Override
	public boolean hasNext() {
		return this.roots.hasNext();
	}

	@Override
	public RecordBatch next() {
		return this.sealer.seal(this.roots.next(), this.dictionaries);
	}

	@Override
	public SizeHint sizeHint() {
		return (this.roots instanceof SizeHint.Provider provider) ? provider.sizeHint() : SizeHint.UNKNOWN;
	}

	@Override
	public void close() throws Exception {
		try (this.sealer) {
			if (this.roots instanceof AutoCloseable closeable) {
				closeable.close();
			}
		}
	}

}
