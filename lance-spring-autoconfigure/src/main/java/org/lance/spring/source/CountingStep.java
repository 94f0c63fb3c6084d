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

import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import org.lance.spring.stream.AsyncIterator;
import org.lance.spring.stream.AsyncStep;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.SizeHint;

/**
 * Passes the batches of another iterator on and counts them, on whatever thread they
 * come.
 *
 * @param <T> the items of the other iterator
 */
final class CountingStep<T> implements AsyncStep<RecordBatch> {

	private final AsyncIterator<T> source;

	private final Function<T, RecordBatch> batch;

	private final Counters counters;

	CountingStep(AsyncIterator<T> source, Function<T, RecordBatch> batch, Counters counters) {
		this.source = source;
		this.batch = batch;
		this.counters = counters;
	}

	@Override
	public CompletionStage<Optional<RecordBatch>> advance() {
		return this.source.next().thenApply((item) -> {
			Optional<RecordBatch> next = item.map(this.batch);
			next.ifPresent(this.counters::count);
			return next;
		});
	}

	@Override
	public void cancel() {
		this.source.close();
	}

	@Override
	public boolean endsWithFailure() {
		return true;
	}

	@Override
	public CompletionStage<Void> release() {
		this.source.close();
		return this.source.closed();
	}

	@Override
	public SizeHint sizeHint() {
		return this.source.sizeHint();
	}

}
