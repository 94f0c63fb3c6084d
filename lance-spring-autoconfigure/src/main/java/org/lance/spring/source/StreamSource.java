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

import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.stream.SizeHint;

/**
 * The one implementation of a source: a stream that can be taken once.
 */
final class StreamSource implements StreamingWriteSource {

	private final Schema schema;

	private final Map<Long, Field> dictionaryFields;

	private final AtomicReference<RecordBatchStream> stream;

	StreamSource(RecordBatchStream stream) {
		this.schema = stream.schema();
		this.dictionaryFields = stream.dictionaryFields();
		this.stream = new AtomicReference<>(stream);
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
	public SizeHint sizeHint() {
		RecordBatchStream current = this.stream.get();
		return (current != null) ? current.sizeHint() : SizeHint.UNKNOWN;
	}

	@Override
	public RecordBatchStream intoStream() {
		RecordBatchStream taken = this.stream.getAndSet(null);
		if (taken == null) {
			throw new IllegalStateException("This source was already used or closed; a source gives its stream once");
		}
		return taken;
	}

	@Override
	public CompletionStage<StreamAndSchema> intoStreamAndSchema() {
		return SchemaPeek.of(intoStream());
	}

	@Override
	public void close() {
		RecordBatchStream unused = this.stream.getAndSet(null);
		if (unused != null) {
			unused.close();
		}
	}

	@Override
	public String toString() {
		return "source of %d columns%s".formatted(this.schema.getFields().size(),
				(this.stream.get() != null) ? "" : ", used or closed");
	}

}
