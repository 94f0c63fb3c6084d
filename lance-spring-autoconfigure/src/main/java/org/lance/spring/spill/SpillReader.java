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

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.AsyncStep;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.SizeHint;

/**
 * One reader of a spill: a position, and the stage that it waits with.
 */
final class SpillReader implements AsyncStep<RecordBatch> {

	private final SpillCore core;

	/**
	 * Keeps the spill from being taken for forgotten.
	 */
	@SuppressWarnings({ "unused", "FieldCanBeLocal" })
	private final SpillLease lease;

	private final ReaderLease counted;

	/**
	 * The index of the next batch; changed under the lock of the spill.
	 */
	int position;

	/**
	 * Whether the caller went away; guarded by the lock of the spill.
	 */
	boolean cancelled;

	private volatile CompletableFuture<Optional<RecordBatch>> pending = new CompletableFuture<>();

	SpillReader(SpillCore core, SpillLease lease) {
		this.core = core;
		this.lease = lease;
		this.counted = lease.reader(core, this);
	}

	@Override
	public CompletionStage<Optional<RecordBatch>> advance() {
		CompletableFuture<Optional<RecordBatch>> step = new CompletableFuture<>();
		this.pending = step;
		this.core.readers().read(this);
		return step;
	}

	void complete(@Nullable RecordBatch batch) {
		this.pending.complete(Optional.ofNullable(batch));
	}

	void fail(Throwable failure) {
		this.pending.completeExceptionally(failure);
	}

	@Override
	public void cancel() {
		this.core.readers().cancel(this);
	}

	@Override
	public CompletionStage<Void> release() {
		this.counted.end();
		return CompletableFuture.completedFuture(null);
	}

	@Override
	public SizeHint sizeHint() {
		return this.core.readers().sizeHint(this);
	}

}
