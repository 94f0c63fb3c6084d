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
import java.util.function.UnaryOperator;

import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.stream.RecordBatchStream;

/**
 * The receiver of a spill.
 */
final class CoreReceiver implements SpillReceiver {

	private final SpillCore core;

	private final SpillLease lease;

	private final UnaryOperator<CompletionStage<Void>> closed;

	CoreReceiver(SpillCore core, SpillLease lease) {
		this(core, lease, UnaryOperator.identity());
	}

	/**
	 * Creates a receiver.
	 * @param closed adds what else has to end before this receiver counts as closed
	 */
	CoreReceiver(SpillCore core, SpillLease lease, UnaryOperator<CompletionStage<Void>> closed) {
		this.core = core;
		this.lease = lease;
		this.closed = closed;
	}

	@Override
	public Schema schema() {
		return this.core.schema();
	}

	@Override
	public RecordBatchStream read() {
		return RecordBatchStream.from(this.core.schema(), this.core.dictionaryFields(),
				new SpillReader(this.core, this.lease));
	}

	@Override
	public StreamingWriteSource source() {
		return StreamingWriteSource.of(read());
	}

	@Override
	public CompletionStage<SpillSnapshot> written() {
		return this.core.written();
	}

	@Override
	public SpillSnapshot snapshot() {
		return this.core.snapshot();
	}

	@Override
	public void close() {
		this.core.close("it was closed", false);
		this.lease.end();
	}

	@Override
	public CompletionStage<Void> closed() {
		return this.closed.apply(this.core.closed());
	}

}
