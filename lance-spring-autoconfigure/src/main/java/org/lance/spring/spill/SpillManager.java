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

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.source.StreamingWriteSource;

/**
 * Makes replay spills and keeps them within limits of memory, in a private directory that
 * is gone at the end.
 * <p>
 * <b>Ownership.</b> Owns its spills and directory, not the allocator and executor.
 * <b>Threads.</b> Any.
 *
 * @since 0.1.0
 */
public final class SpillManager implements AutoCloseable {

	/**
	 * Creates a spill.
	 * @param schema the schema of all batches, in memory format
	 * @return the spill, owned by the caller
	 * @throws SpillClosedException if this manager takes no more spills
	 */
	public ReplaySpill createReplaySpill(Schema schema) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Creates a spill.
	 * @param schema the schema of all batches, in memory format
	 * @param options what it does differently
	 * @return the spill, owned by the caller
	 * @throws SpillClosedException if this manager takes no more spills
	 */
	public ReplaySpill createReplaySpill(Schema schema, SpillOptions options) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Drains a source into a spill, in the background.
	 * @param source the source, taken over
	 * @return the receiver of the spill, at once; closing it closes the spill and the
	 * source
	 */
	public SpillReceiver spill(StreamingWriteSource source) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Drains a source into a spill, in the background.
	 * @param source the source, taken over
	 * @param options what the spill does differently
	 * @return the receiver of the spill, at once; closing it closes the spill and the
	 * source
	 */
	public SpillReceiver spill(StreamingWriteSource source, SpillOptions options) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns what the live spills hold now.
	 * @return one snapshot for each
	 */
	public List<SpillSnapshot> spills() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns what this manager did and holds.
	 * @return the statistics
	 */
	public SpillStatistics statistics() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns the stage of the start-up sweep that removes directories of dead processes.
	 * @return the stage of how many were removed
	 */
	public CompletionStage<Integer> reclaimed() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Takes no more spills (until {@link #resume()}), lets live ones end within the time,
	 * then fails the rest with a {@link SpillClosedException}. Never blocks.
	 * @param grace how long live spills may go on
	 * @return the stage that ends when no spill is live
	 */
	public CompletionStage<Void> drain(Duration grace) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Takes spills again after a {@link #drain(Duration)}.
	 */
	public void resume() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Fails live spills, gives everything back and removes the directory. Idempotent.
	 * Does not wait for the spill executor's running work; see {@link #closed()}.
	 */
	@Override
	public void close() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns the stage that ends when everything is given back.
	 * @return the stage
	 */
	public CompletionStage<Void> closed() {
		throw new UnsupportedOperationException();
	}

}
