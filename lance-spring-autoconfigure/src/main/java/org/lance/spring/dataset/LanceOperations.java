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

package org.lance.spring.dataset;

import java.util.concurrent.CompletionStage;

import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.stream.RecordBatchStream;

/**
 * Writes and reads Lance datasets, asynchronously.
 * <p>
 * A dataset is named by its address: a path, or a URI that Lance knows, such as
 * {@code s3://bucket/flights.lance}.
 * <p>
 * <b>Errors.</b> All are in the stages: a {@link LanceException} of the operation, or an
 * {@link org.lance.spring.stream.ArrowDataException} for a schema or a batch that can't
 * be stored, found before native code sees it. <b>Threads.</b> Any; nothing blocks the
 * caller. What is chained to the stages must not block either.
 *
 * @since 0.1.0
 */
public interface LanceOperations {

	/**
	 * Writes a source, in one commit: all of it or nothing.
	 * <p>
	 * Cancelling the future of the stage ends the write and commits nothing, unless the
	 * last batch was already handed over: then it may be too late.
	 * @param uri the dataset
	 * @param source the source, taken over and closed, also when the write is refused
	 * @param mode what to do with an existing dataset
	 * @return the stage of the result. It fails with a {@link LanceWriteException} whose
	 * cause is the very exception or error of the source if that failed, a
	 * {@link LanceDatasetExistsException} or {@link LanceDatasetNotFoundException} by
	 * mode, a {@link org.lance.spring.stream.SchemaMismatchException} if the source does
	 * not fit an existing table, an {@link UnsupportedColumnException} if Lance can't
	 * store a column, an {@link org.lance.spring.stream.InvalidRecordBatchException} if a
	 * null comes where none is allowed, a {@link LanceConflictException} if a concurrent
	 * write won, and a {@link LanceRejectedException} if too many writes are waiting
	 */
	CompletionStage<LanceWriteResult> write(String uri, StreamingWriteSource source, LanceWriteMode mode);

	/**
	 * Opens a scan of the newest version.
	 * @param uri the dataset
	 * @param scan what to read
	 * @return the stage of the stream, owned by the caller; it is read on the background
	 * executor, and does not see later writes. The stage, or the stream later, fails with
	 * a {@link LanceReadException}, also for an unknown column or a malformed filter
	 */
	CompletionStage<RecordBatchStream> scan(String uri, LanceScan scan);

	/**
	 * Counts the rows of the newest version.
	 * @param uri the dataset
	 * @return the stage of the number
	 */
	CompletionStage<Long> countRows(String uri);

	/**
	 * Describes the newest version.
	 * @param uri the dataset
	 * @return the stage of the description
	 */
	CompletionStage<LanceTable> describe(String uri);

	/**
	 * Tells whether there is a dataset.
	 * @param uri the dataset
	 * @return the stage of the answer; it fails if that can't be found out
	 */
	CompletionStage<Boolean> exists(String uri);

}
