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

import org.lance.spring.stream.RecordBatch;

/**
 * The writing end of a {@link ReplaySpill}. One call at a time; wrong use (two writes at
 * once, a write after the end or after an error, another schema) is a clear exception.
 * <p>
 * <b>Ownership.</b> Whoever took it closes it, which does not close the spill. One that
 * is dropped before its end abandons the spill after a garbage collection.
 * <b>Threads.</b> Any; {@link #sendError(Throwable)} and {@link #close()} also while a
 * write is not complete, which then fails. Stages complete on a thread of the engine or
 * the caller's: what is chained to them must not block.
 *
 * @since 0.1.0
 */
public interface SpillSender extends AutoCloseable {

	/**
	 * Writes a batch. Complete at once while the spill is in memory; file work happens on
	 * the spill executor.
	 * @param batch the batch; shared before this method returns, so the caller may close
	 * its handle at any time
	 * @return the stage that ends when readers can get the batch. It fails with a
	 * {@link SpillException} if the spill failed or was closed, with an
	 * {@link IllegalStateException} for wrong use and with a
	 * {@link org.lance.spring.stream.SchemaMismatchException} for a batch of another
	 * schema
	 */
	CompletionStage<Void> write(RecordBatch batch);

	/**
	 * Says that the stream is complete.
	 * @return the stage that ends when the spill is complete; it fails as
	 * {@link #write(RecordBatch)} does
	 */
	CompletionStage<Void> finish();

	/**
	 * Says that the source failed: the next step of every reader, old or new, fails with
	 * a {@link SpillSourceFailedException} of that cause, even before unread batches.
	 * Memory and file are given back. Without effect once the spill has ended.
	 * @param cause why
	 */
	void sendError(Throwable cause);

	/**
	 * Ends writing. Without {@link #finish()} or {@link #sendError(Throwable)} before,
	 * the spill is abandoned: an error to its readers, never an end of the stream.
	 */
	@Override
	void close();

}
