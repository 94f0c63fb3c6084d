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

import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;

/**
 * A spill with its two ends.
 */
final class CoreSpill implements ReplaySpill {

	private final SpillCore core;

	private final SpillLease lease;

	private final CoreReceiver receiver;

	/**
	 * Made at once: a spill whose sender can't be taken any more is abandoned.
	 */
	private final AtomicReference<@Nullable SpillSender> sender;

	CoreSpill(SpillCore core, SpillExecutor executor, @Nullable CreationTrace trace) {
		this.core = core;
		this.lease = new SpillLease(core, executor, trace);
		this.receiver = new CoreReceiver(core, this.lease);
		this.sender = new AtomicReference<>(new CoreSender(core, executor, trace));
	}

	@Override
	public String name() {
		return this.core.name();
	}

	@Override
	public Schema schema() {
		return this.core.schema();
	}

	@Override
	public SpillSender sender() {
		SpillSender taken = this.sender.getAndSet(null);
		if (taken == null) {
			throw new IllegalStateException(
					"The sender of spill '%s' was taken before: a spill has one writer. Share the one sender"
						.formatted(name()));
		}
		return taken;
	}

	/**
	 * The receiver of a spill that a source is drained into.
	 */
	SpillReceiver receiver(SourceDrain drain) {
		return new CoreReceiver(this.core, this.lease, drain::closedWith);
	}

	@Override
	public SpillReceiver receiver() {
		return this.receiver;
	}

	@Override
	public SpillSnapshot snapshot() {
		return this.core.snapshot();
	}

	@Override
	public void close() {
		this.receiver.close();
	}

	@Override
	public CompletionStage<Void> closed() {
		return this.core.closed();
	}

}
