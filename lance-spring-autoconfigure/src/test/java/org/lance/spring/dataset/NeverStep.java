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

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.lance.spring.stream.AsyncStep;
import org.lance.spring.stream.RecordBatch;

/**
 * A step that gives nothing until it is cancelled.
 */
final class NeverStep implements AsyncStep<RecordBatch> {

	private final CompletableFuture<Void> reached;

	private final CompletableFuture<Optional<RecordBatch>> pending = new CompletableFuture<>();

	/**
	 * Creates a step.
	 * @param reached completed when somebody waits for the first batch
	 */
	NeverStep(CompletableFuture<Void> reached) {
		this.reached = reached;
	}

	@Override
	public CompletionStage<Optional<RecordBatch>> advance() {
		this.reached.complete(null);
		return this.pending;
	}

	@Override
	public void cancel() {
		this.pending.complete(Optional.empty());
	}

	@Override
	public CompletionStage<Void> release() {
		return CompletableFuture.completedFuture(null);
	}

}
