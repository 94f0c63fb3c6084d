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

import java.lang.ref.Reference;
import java.util.Objects;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.RecordBatch;

/**
 * The sender of a spill. When it becomes unreachable before its end, nobody can finish
 * the spill any more, so it is abandoned.
 */
final class CoreSender implements SpillSender {

	private final SpillCore core;

	private final LossWatch watch;

	CoreSender(SpillCore core, SpillExecutor executor, @Nullable CreationTrace trace) {
		this.core = core;
		this.watch = new LossWatch(this, executor, () -> core
			.abandon("its sender was lost without finish() or sendError(); it became unreachable", trace));
	}

	@Override
	public CompletionStage<Void> write(RecordBatch batch) {
		try {
			return this.core.write(batch);
		}
		finally {
			Reference.reachabilityFence(this);
		}
	}

	@Override
	public CompletionStage<Void> finish() {
		try {
			return this.core.finish();
		}
		finally {
			Reference.reachabilityFence(this);
		}
	}

	@Override
	public void sendError(Throwable cause) {
		this.core.sendError(Objects.requireNonNull(cause, "'cause' must not be null"));
		Reference.reachabilityFence(this);
	}

	@Override
	public void close() {
		this.core.abandon("its sender was closed without finish() or sendError()", null);
		this.watch.end();
	}

}
