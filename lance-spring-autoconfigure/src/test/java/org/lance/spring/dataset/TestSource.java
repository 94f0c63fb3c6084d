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

import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.source.StreamAndSchema;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;

/**
 * A source around whatever makes its stream.
 */
class TestSource implements StreamingWriteSource {

	private final Schema schema;

	private final Map<Long, Field> dictionaryFields;

	private final Supplier<RecordBatchStream> stream;

	private final AtomicBoolean used = new AtomicBoolean();

	private final AtomicBoolean closed = new AtomicBoolean();

	TestSource(Schema schema, Map<Long, Field> dictionaryFields, Supplier<RecordBatchStream> stream) {
		this.schema = schema;
		this.dictionaryFields = dictionaryFields;
		this.stream = stream;
	}

	static TestSource of(Schema schema, Iterator<RecordBatch> batches, BackgroundExecutor executor) {
		return new TestSource(schema, Map.of(),
				() -> RecordBatchStream.background(schema, Map.of(), batches, executor, 1));
	}

	@Override
	public Schema arrowSchema() {
		return this.schema;
	}

	@Override
	public Map<Long, Field> dictionaryFields() {
		return this.dictionaryFields;
	}

	@Override
	public RecordBatchStream intoStream() {
		if (!this.used.compareAndSet(false, true)) {
			throw new IllegalStateException("used");
		}
		return this.stream.get();
	}

	@Override
	public CompletionStage<StreamAndSchema> intoStreamAndSchema() {
		throw new UnsupportedOperationException();
	}

	@Override
	public void close() {
		this.closed.set(true);
		this.used.set(true);
	}

	boolean isClosed() {
		return this.closed.get();
	}

}
