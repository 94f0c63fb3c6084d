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
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.AsyncLoop;
import org.lance.spring.stream.Failures;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves a stream into a spill, batch by batch, without a thread that waits. The next
 * batch is asked for when the last one was written: that is the backpressure.
 */
final class SourceDrain {

	private static final Logger logger = LoggerFactory.getLogger(SourceDrain.class);

	private final String name;

	private final RecordBatchStream stream;

	private final SpillSender sender;

	SourceDrain(String name, RecordBatchStream stream, SpillSender sender) {
		this.name = name;
		this.stream = stream;
		this.sender = sender;
	}

	/**
	 * Starts moving.
	 * @param written the stage of the spill: when it fails, the source is cancelled
	 */
	void start(CompletionStage<?> written) {
		written.whenComplete((snapshot, failure) -> {
			if (failure != null) {
				this.stream.close();
			}
		});
		AsyncLoop.repeat(this::turn).whenComplete((done, failure) -> ended(Failures.unwrap(failure)));
	}

	private CompletionStage<Boolean> turn() {
		return this.stream.next().thenCompose((item) -> {
			if (item.isEmpty()) {
				return CompletableFuture.completedFuture(false);
			}
			try (RecordBatch batch = item.get()) {
				return this.sender.write(batch).thenApply((done) -> true);
			}
		});
	}

	private void ended(@Nullable Throwable failure) {
		if (failure == null) {
			this.sender.finish().whenComplete((done, finishFailure) -> {
				if (finishFailure != null) {
					logger.debug("Spill '{}' could not be finished", this.name, finishFailure);
				}
			});
		}
		else {
			// Without effect if it is the spill itself that failed.
			this.sender.sendError(failure);
		}
		this.stream.close();
		this.stream.closed().whenComplete((done, closeFailure) -> {
			if (closeFailure != null) {
				logger.warn("The source of spill '{}' could not be closed", this.name, Failures.unwrap(closeFailure));
			}
		});
	}

	/**
	 * The stage that ends when the spill and the source are closed.
	 */
	CompletionStage<Void> closedWith(CompletionStage<Void> spillClosed) {
		CompletionStage<Void> sourceClosed = this.stream.closed().exceptionally((failure) -> null);
		return spillClosed.thenCombine(sourceClosed, (first, second) -> null);
	}

}
