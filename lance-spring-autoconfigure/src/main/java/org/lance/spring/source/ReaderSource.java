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

import java.io.IOException;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.ReaderBatches;
import org.lance.spring.stream.RecordBatch;

/**
 * Pulls an Arrow reader.
 */
final class ReaderSource implements OpenableBatches {

	private final ArrowReader reader;

	private final BufferAllocator allocator;

	private @Nullable ReaderBatches batches;

	ReaderSource(ArrowReader reader, BufferAllocator allocator) {
		this.reader = reader;
		this.allocator = allocator;
	}

	@Override
	public IpcSchema open() throws IOException {
		ReaderBatches opened = new ReaderBatches(this.reader, this.allocator);
		this.batches = opened;
		return new IpcSchema(opened.schema(), opened.dictionaryFields());
	}

	@Override
	public boolean hasNext() {
		return this.batches != null && this.batches.hasNext();
	}

	@Override
	public RecordBatch next() {
		if (this.batches == null) {
			throw new IllegalStateException("The reader was not opened");
		}
		return this.batches.next();
	}

	@Override
	public void close() throws IOException {
		if (this.batches != null) {
			this.batches.close();
		}
		else {
			this.reader.close();
		}
	}

}
