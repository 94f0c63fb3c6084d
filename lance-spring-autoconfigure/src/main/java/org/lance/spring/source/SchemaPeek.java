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
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.apache.arrow.vector.types.pojo.Field;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.AsyncStep;
import org.lance.spring.stream.DictionaryVersion;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.stream.SizeHint;

/**
 * Takes the first batch of a stream to learn its Lance schema, and gives it back as the
 * first one of the stream that it makes.
 */
final class SchemaPeek implements AsyncStep<RecordBatch> {

	private final RecordBatchStream rest;

	/**
	 * The first answer of the stream, until it is given out.
	 */
	private @Nullable Optional<RecordBatch> first;

	private SchemaPeek(RecordBatchStream rest, Optional<RecordBatch> first) {
		this.rest = rest;
		this.first = first;
	}

	static CompletionStage<StreamAndSchema> of(RecordBatchStream stream) {
		return FirstStep.of(stream, (first) -> peeked(stream, first), (made) -> made.stream().close());
	}

	private static StreamAndSchema peeked(RecordBatchStream stream, Optional<RecordBatch> first) {
		try {
			Map<Long, Field> dictionaries = new java.util.HashMap<>(stream.dictionaryFields());
			first.ifPresent((batch) -> {
				for (DictionaryVersion version : batch.dictionaries()) {
					dictionaries.put(version.id(), version.field());
				}
			});
			LanceSchema schema = LanceSchemas.of(stream.schema(), dictionaries);
			RecordBatchStream whole = RecordBatchStream.from(stream.schema(), dictionaries,
					new SchemaPeek(stream, first));
			return new StreamAndSchema(whole, schema);
		}
		catch (Throwable ex) {
			first.ifPresent(RecordBatch::close);
			throw ex;
		}
	}

	@Override
	public synchronized CompletionStage<Optional<RecordBatch>> advance() {
		Optional<RecordBatch> answer = this.first;
		if (answer != null) {
			this.first = null;
			return CompletableFuture.completedFuture(answer);
		}
		return this.rest.next();
	}

	@Override
	public void cancel() {
		this.rest.close();
	}

	@Override
	public boolean endsWithFailure() {
		return true;
	}

	@Override
	public synchronized CompletionStage<Void> release() {
		if (this.first != null) {
			this.first.ifPresent(RecordBatch::close);
			this.first = null;
		}
		this.rest.close();
		return this.rest.closed();
	}

	@Override
	public synchronized SizeHint sizeHint() {
		boolean more = this.first != null && this.first.isPresent();
		return this.rest.sizeHint().plus(more ? 1 : 0);
	}

}
