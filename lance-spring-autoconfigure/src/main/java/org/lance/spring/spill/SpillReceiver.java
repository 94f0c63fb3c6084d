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

import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.stream.RecordBatchStream;

/**
 * The reading end of a {@link ReplaySpill}; may be shared.
 * <p>
 * <b>Ownership.</b> Whoever got it from a {@link SpillManager} closes it; that of a
 * {@link ReplaySpill} ends with its spill. Closing it closes the whole spill. If it is
 * dropped instead, and nobody can reach the spill or a reader of it either, the spill is
 * closed after a garbage collection, with a warning. <b>Threads.</b> Any. Stages complete
 * on a thread of the engine or the caller's: what is chained to them must not block.
 *
 * @since 0.1.0
 */
public interface SpillReceiver extends AutoCloseable {

	/**
	 * Returns the schema of all batches.
	 * @return the schema in memory format
	 */
	Schema schema();

	/**
	 * Opens a reader from the first batch on: it gets what was written so far, then
	 * waits, without a thread, for what is written later. Never fails by itself: if the
	 * spill has failed or was closed, the first step of the stream says so.
	 * @return the stream, owned by the caller
	 */
	RecordBatchStream read();

	/**
	 * Opens a reader as a source.
	 * @return the source, owned by the caller
	 */
	StreamingWriteSource source();

	/**
	 * Returns the stage that ends when the spill is written.
	 * @return the stage of what was written; it fails as readers do
	 */
	CompletionStage<SpillSnapshot> written();

	/**
	 * Returns what the spill holds now.
	 * @return the snapshot
	 */
	SpillSnapshot snapshot();

	/**
	 * Closes the whole spill.
	 * @see ReplaySpill#close()
	 */
	@Override
	void close();

	/**
	 * Returns the stage that ends when memory and file are given back.
	 * @return the stage
	 */
	CompletionStage<Void> closed();

}
