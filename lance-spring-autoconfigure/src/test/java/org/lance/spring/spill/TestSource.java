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

package org.lance.spring.spill;

import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.source.StreamAndSchema;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;

/**
 * A source around an iterator that counts what happens to it.
 */
final class TestSource implements StreamingWriteSource {

	final AtomicInteger nexts = new AtomicInteger();

	final AtomicInteger closes = new AtomicInteger();

	private final Iterator<RecordBatch> batches;

	private final BackgroundExecutor executor;

	private boolean moved;

	TestSource(Iterator<RecordBatch> batches, BackgroundExecutor executor) {
		this.batches = batches;
		this.executor = executor;
	}

	@Override
	public Schema arrowSchema() {
		return Batches.SCHEMA;
	}

	@Override
	public RecordBatchStream intoStream() {
		RecordBatchStream stream = RecordBatchStream.background(Batches.SCHEMA, Map.of(), new Counted(), this.executor,
				1);
		this.moved = true;
		return stream;
	}

	@Override
	public CompletionStage<StreamAndSchema> intoStreamAndSchema() {
		throw new UnsupportedOperationException();
	}

	@Override
	public void close() {
		if (!this.moved) {
			this.closes.incrementAndGet();
		}
	}

	private final class Counted implements Iterator<RecordBatch>, AutoCloseable {

		@Override
		public boolean hasNext() {
			return TestSource.this.batches.hasNext();
		}

		@Override
		public RecordBatch next() {
			TestSource.this.nexts.incrementAndGet();
			return TestSource.this.batches.next();
		}

		@Override
		public void close() {
			TestSource.this.closes.incrementAndGet();
		}

	}

}
