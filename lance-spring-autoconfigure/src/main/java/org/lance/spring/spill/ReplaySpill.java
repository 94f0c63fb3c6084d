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

/**
 * One stream of record batches that is written once and can be read any number of times,
 * before, during and after it is written. In memory up to a limit, then in a temporary
 * file.
 * <p>
 * <b>Ownership.</b> Whoever created it closes it; that gives memory and file back.
 * Batches that readers were given stay valid. <b>Threads.</b> Any.
 * <p>
 * Counterpart of {@code create_replay_spill} of Lance's DataFusion integration.
 *
 * @since 0.1.0
 */
public interface ReplaySpill extends AutoCloseable {

	/**
	 * Returns the name, as it appears in messages, statistics and the name of the file.
	 * @return the name, unique within its manager
	 */
	String name();

	/**
	 * Returns the schema of all batches.
	 * @return the schema in memory format
	 */
	Schema schema();

	/**
	 * Returns the one sender.
	 * @return the sender
	 * @throws IllegalStateException if it was taken before: a spill has one writer
	 */
	SpillSender sender();

	/**
	 * Returns the receiver, which may be shared by many readers.
	 * @return the receiver
	 */
	SpillReceiver receiver();

	/**
	 * Returns what the spill holds now.
	 * @return the snapshot
	 */
	SpillSnapshot snapshot();

	/**
	 * Ends the spill: readers that wait or come later get a {@link SpillClosedException},
	 * memory and file are given back. Never blocks; idempotent.
	 */
	@Override
	void close();

	/**
	 * Returns the stage that ends when memory and file are given back.
	 * @return the stage; it ends normally also if the file could not be deleted, which is
	 * logged
	 */
	CompletionStage<Void> closed();

}
