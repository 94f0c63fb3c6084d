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

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

import org.apache.arrow.vector.types.pojo.Field;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.ArrowDataException;
import org.lance.spring.stream.AsyncStep;
import org.lance.spring.stream.DictionaryVersion;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.stream.Schemas;
import org.lance.spring.stream.SizeHint;

/**
 * Hands on what the stream of a source gives, once it has passed the checks that keep
 * native code from ending the JVM.
 */
final class CheckedStep implements AsyncStep<RecordBatch> {

	private final RecordBatchStream stream;

	private final Consumer<RecordBatch> check;

	private final NativeAlignment alignment;

	private @Nullable Optional<RecordBatch> peeked;

	private volatile @Nullable ArrowDataException refusal;

	/**
	 * Creates a step.
	 * @param stream the stream of the source, taken over
	 * @param check throws an {@link ArrowDataException} for a batch that must not go on
	 * @param alignment aligns those that go on
	 */
	CheckedStep(RecordBatchStream stream, Consumer<RecordBatch> check, NativeAlignment alignment) {
		this.stream = stream;
		this.alignment = alignment;
		this.check = check;
	}

	/**
	 * Reads the first batch ahead, to find out the value types of its dictionaries.
	 * @return the stage of the value fields by dictionary id, as far as they are known
	 */
	CompletionStage<Map<Long, Field>> peek() {
		return next().thenApply((first) -> {
			this.peeked = first;
			Map<Long, Field> fields = new HashMap<>(this.stream.dictionaryFields());
			first.ifPresent((batch) -> {
				for (DictionaryVersion version : batch.dictionaries()) {
					fields.put(version.id(), version.field());
				}
			});
			return fields;
		});
	}

	@Override
	public CompletionStage<Optional<RecordBatch>> advance() {
		Optional<RecordBatch> first = this.peeked;
		if (first != null) {
			this.peeked = null;
			return CompletableFuture.completedFuture(first);
		}
		return next();
	}

	private CompletionStage<Optional<RecordBatch>> next() {
		return this.stream.next().thenApply((item) -> item.map(this::check));
	}

	private RecordBatch check(RecordBatch batch) {
		try {
			Schemas.checkCompatible(this.stream.schema(), batch.schema());
			this.check.accept(batch);
			return this.alignment.align(batch);
		}
		catch (Throwable ex) {
			batch.close();
			if (ex instanceof ArrowDataException data) {
				this.refusal = data;
			}
			throw ex;
		}
	}

	/**
	 * Tells whether a failure is a refusal of this step and not a failure of the source.
	 * @param failure the failure
	 * @return whether it is
	 */
	boolean isRefusal(@Nullable Throwable failure) {
		return failure != null && failure == this.refusal;
	}

	@Override
	public void cancel() {
		this.stream.close();
	}

	@Override
	public CompletionStage<Void> release() {
		Optional<RecordBatch> first = this.peeked;
		this.peeked = null;
		if (first != null) {
			first.ifPresent(RecordBatch::close);
		}
		this.stream.close();
		return this.stream.closed();
	}

	@Override
	public SizeHint sizeHint() {
		return this.stream.sizeHint();
	}

}
