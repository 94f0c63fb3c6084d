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

package org.lance.spring.source;

import java.io.InputStream;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.concurrent.CompletionStage;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;

/**
 * Makes a {@link StreamingWriteSource} from every kind of batch source. Blocking work
 * runs on the background executor, never on the caller's thread.
 * <p>
 * <b>Ownership.</b> Each method takes over what it is given and closes it at the end,
 * also when it fails. The factory itself owns neither allocator nor executor.
 * <b>Threads.</b> Any.
 *
 * @since 0.1.0
 */
public final class StreamingWriteSourceFactory {

	/**
	 * Creates a factory.
	 * @param allocator where batches go; must stay open as long as any batch is held
	 * @param executor runs blocking work
	 * @param readAhead how many batches are read before they are asked for, 0 or more
	 */
	public StreamingWriteSourceFactory(BufferAllocator allocator, BackgroundExecutor executor, int readAhead) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Makes a source of what an Arrow reader reads. Buffers of Arrow's own IPC and C Data
	 * readers are shared if they are under this factory's allocator root; all others are
	 * copied.
	 * @param reader the reader, taken over; closed at the end, its allocator is not
	 * @return the stage of the source, because getting the schema may block
	 */
	public CompletionStage<StreamingWriteSource> fromReader(ArrowReader reader) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Makes a source of Arrow IPC data, stream or file, told apart by content.
	 * @param input the data, taken over
	 * @return the stage of the source, which ends when the schema was read
	 */
	public CompletionStage<StreamingWriteSource> fromIpc(InputStream input) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Makes a source of an Arrow IPC file on disk, stream or file format, told apart by
	 * content.
	 * @param path the file
	 * @return the stage of the source, which ends when the schema was read
	 */
	public CompletionStage<StreamingWriteSource> fromIpc(Path path) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Makes a source of Arrow IPC data, stream or file, told apart by content.
	 * @param channel the data, taken over
	 * @return the stage of the source, which ends when the schema was read
	 */
	public CompletionStage<StreamingWriteSource> fromIpc(ReadableByteChannel channel) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Makes a feed for Arrow IPC data that is pushed, such as the body of an HTTP
	 * request. It needs no thread.
	 * @return the feed, owned by the caller
	 */
	public IpcFeed ipcFeed() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Makes a source of roots. The producer may refill and reuse one root: each is copied
	 * before the next is asked for. Roots stay the producer's.
	 * @param schema the schema of all roots, in memory format; their nullability and
	 * metadata may differ
	 * @param dictionaries the dictionaries, looked up for each root, or {@code null}
	 * @param roots the roots; closed at the end if it is {@link AutoCloseable}
	 * @return the source
	 */
	public StreamingWriteSource fromRoots(Schema schema, @Nullable DictionaryProvider dictionaries,
			Iterator<VectorSchemaRoot> roots) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Makes a source of batches that a blocking iterator gives away.
	 * @param schema the schema of all batches, in memory format
	 * @param batches the batches; closed at the end if it is {@link AutoCloseable}
	 * @return the source
	 */
	public StreamingWriteSource fromBatches(Schema schema, Iterator<RecordBatch> batches) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Makes a source of an existing stream, passed through without another hop.
	 * @param stream the stream, taken over
	 * @return the source
	 */
	public StreamingWriteSource fromStream(RecordBatchStream stream) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns how many batches the streams of this factory have given out so far.
	 * @return the number
	 */
	public long batches() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns how many rows the streams of this factory have given out so far.
	 * @return the number
	 */
	public long rows() {
		throw new UnsupportedOperationException();
	}

}
