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

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.RecordBatch;

/**
 * A call of the sender that is not complete: a write, or the finish. Guarded by the lock
 * of its spill.
 */
final class SenderCall {

	private static final int MAX_WAITS = 8;

	/**
	 * The batch to be written, owned; {@code null} for the finish.
	 */
	final @Nullable RecordBatch batch;

	final int rows;

	final CompletableFuture<Void> result;

	/**
	 * Whether the caller has the stage.
	 */
	boolean returned;

	/**
	 * Whether the disk has it: the batch is in use until that answers.
	 */
	boolean onItsWay;

	private int waits;

	SenderCall(@Nullable RecordBatch batch, CompletableFuture<Void> result) {
		this.batch = batch;
		this.rows = (batch != null) ? batch.rowCount() : 0;
		this.result = result;
	}

	/**
	 * Tells whether the call may wait (once more) for others to make room. Others may
	 * take what was freed, so that there must be an end.
	 */
	boolean mayWait() {
		return this.waits++ < MAX_WAITS;
	}

	void closeBatch() {
		if (this.batch != null) {
			this.batch.close();
		}
	}

}
