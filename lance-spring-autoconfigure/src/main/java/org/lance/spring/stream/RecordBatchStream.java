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

package org.lance.spring.stream;

import java.io.IOException;
import java.util.Iterator;
import java.util.Map;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * An asynchronous stream of record batches with a schema. The consumer owns each batch
 * that it is given and closes it.
 * <p>
 * <b>Threads.</b> As of any {@link AsyncIterator}: any, one call at a time.
 * <p>
 * Counterpart of DataFusion's {@code SendableRecordBatchStream}.
 *
 * @since 0.1.0
 */
public interface RecordBatchStream extends AsyncIterator<RecordBatch> {

	/**
	 * Returns the schema of all batches, in memory format: dictionary columns have their
	 * index type, as in {@link org.apache.arrow.vector.VectorSchemaRoot#getSchema()}.
	 * @return the schema
	 */
	Schema schema();

	/**
	 * Returns the value fields of the dictionaries, by dictionary id, as far as they are
	 * known before the first batch. A stream without any batch has no other place to tell
	 * the value types of its dictionary columns.
	 * @return the fields, in memory format
	 */
	default Map<Long, Field> dictionaryFields() {
		return Map.of();
	}

	@Override
	RecordBatchStream fuse();

	/**
	 * Returns a blocking view as an Arrow reader, so that the stream can be exported over
	 * the C Data interface. Each batch replaces the buffers of the one before, so
	 * captured batches stay intact. Closing the reader closes this stream. Its methods
	 * refuse to run on a thread of the engine.
	 * @param allocator the allocator of the reader's vectors; not charged for the batches
	 * @return the reader, owned by the caller
	 */
	default ArrowReader toReader(BufferAllocator allocator) {
		return new StreamArrowReader(this, allocator);
	}

	/**
	 * Makes a stream from its step.
	 * @param schema the schema of all batches, in memory format
	 * @param dictionaryFields what {@link #dictionaryFields()} answers
	 * @param step the step, owned by the stream
	 * @return the stream
	 */
	static RecordBatchStream from(Schema schema, Map<Long, Field> dictionaryFields, AsyncStep<RecordBatch> step) {
		return new StepRecordBatchStream(schema, dictionaryFields, step);
	}

	/**
	 * Makes a stream that pulls a blocking iterator of batches on the background
	 * executor.
	 * @param schema the schema of all batches, in memory format
	 * @param dictionaryFields what {@link #dictionaryFields()} answers
	 * @param batches the iterator, owned by the stream unless this method throws; closed
	 * at its end if it is {@link AutoCloseable}
	 * @param executor runs the steps
	 * @param readAhead how many batches are read before they are asked for, 0 or more
	 * @return the stream
	 * @throws StreamAdmissionException if the executor takes no more streams
	 */
	static RecordBatchStream background(Schema schema, Map<Long, Field> dictionaryFields, Iterator<RecordBatch> batches,
			BackgroundExecutor executor, int readAhead) {
		Map<Long, Field> fields = Map.copyOf(dictionaryFields);
		BackgroundStep<RecordBatch> step = BackgroundStep.admitted(batches, executor, readAhead);
		StepRecordBatchStream stream = new StepRecordBatchStream(schema, fields, step);
		step.opened(stream);
		return stream;
	}

	/**
	 * Makes a stream of what a reader reads, on the background executor. Counterpart of
	 * {@code reader_to_stream} of Lance's DataFusion integration. Getting the schema of a
	 * reader may block; so does this method.
	 * @param reader the reader, owned by the stream unless this method throws; closed at
	 * its end, its allocator is not
	 * @param executor runs the steps
	 * @param readAhead how many batches are read before they are asked for, 0 or more
	 * @param allocator where batches go whose memory can't be shared
	 * @return the stream
	 * @throws StreamAdmissionException if the executor takes no more streams
	 * @throws IOException if the schema can't be read
	 */
	static RecordBatchStream of(ArrowReader reader, BackgroundExecutor executor, int readAhead,
			BufferAllocator allocator) throws IOException {
		ReaderBatches batches = new ReaderBatches(reader, allocator);
		return background(batches.schema(), batches.dictionaryFields(), batches, executor, readAhead);
	}

}
