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

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.channels.SelectableChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.AsyncIterator;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.BackgroundIterator;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;

/**
 * Makes a {@link StreamingWriteSource} from every kind of batch source. Blocking work
 * runs on the background executor, never on the caller's thread.
 * <p>
 * <b>Ownership.</b> Each method takes over what it is given and closes it at the end,
 * also when it fails. A failure is the end of a stream: what is behind it is closed then
 * and there, as after the last batch and after a close, and then
 * {@link RecordBatchStream#closed()} ends. The factory itself owns neither allocator nor
 * executor. <b>Threads.</b> Any.
 *
 * @since 0.1.0
 */
public final class StreamingWriteSourceFactory {

	private final BufferAllocator allocator;

	private final BackgroundExecutor executor;

	private final int readAhead;

	private final Counters counters = new Counters();

	/**
	 * Creates a factory.
	 * @param allocator where batches go; must stay open as long as any batch is held
	 * @param executor runs blocking work
	 * @param readAhead how many batches are read before they are asked for, 0 or more
	 */
	public StreamingWriteSourceFactory(BufferAllocator allocator, BackgroundExecutor executor, int readAhead) {
		if (readAhead < 0) {
			throw new IllegalArgumentException("'readAhead' must be 0 or more, but was " + readAhead);
		}
		this.allocator = allocator;
		this.executor = executor;
		this.readAhead = readAhead;
	}

	/**
	 * Makes a source of what an Arrow reader reads. Buffers of Arrow's own IPC and C Data
	 * readers are shared if they are under this factory's allocator root; all others are
	 * copied.
	 * @param reader the reader, taken over; closed at the end, its allocator is not
	 * @return the stage of the source, because getting the schema may block
	 */
	public CompletionStage<StreamingWriteSource> fromReader(ArrowReader reader) {
		return open(new ReaderSource(reader, this.allocator));
	}

	/**
	 * Makes a source of Arrow IPC data, stream or file, told apart by content.
	 * @param input the data, taken over
	 * @return the stage of the source, which ends when the schema was read
	 */
	public CompletionStage<StreamingWriteSource> fromIpc(InputStream input) {
		return fromIpc(new InputStreamChannel(input));
	}

	/**
	 * Makes a source of an Arrow IPC file on disk, stream or file format, told apart by
	 * content.
	 * @param path the file
	 * @return the stage of the source, which ends when the schema was read
	 */
	public CompletionStage<StreamingWriteSource> fromIpc(Path path) {
		return open(new IpcBatches(new IpcBatches.Opener() {

			@Override
			public ReadableByteChannel open() throws IOException {
				return Files.newByteChannel(path);
			}

			@Override
			public long size(ReadableByteChannel channel) throws IOException {
				long size = Files.isRegularFile(path) ? ((SeekableByteChannel) channel).size() : 0;
				// Files made up by the system say that they have no bytes.
				return (size > 0) ? size : IpcTarget.UNKNOWN_SIZE;
			}

		}, this.allocator));
	}

	/**
	 * Makes a source of Arrow IPC data, stream or file, told apart by content.
	 * @param channel the data, taken over
	 * @return the stage of the source, which ends when the schema was read
	 */
	public CompletionStage<StreamingWriteSource> fromIpc(ReadableByteChannel channel) {
		return open(new IpcBatches(new IpcBatches.Opener() {

			@Override
			public ReadableByteChannel open() {
				if (channel instanceof SelectableChannel selectable && !selectable.isBlocking()) {
					throw new IllegalArgumentException(
							"The channel does not block. Configure it to, or feed its bytes to an IpcFeed");
				}
				return channel;
			}

			@Override
			public long size(ReadableByteChannel opened) throws IOException {
				if (!(opened instanceof FileChannel file)) {
					return IpcTarget.UNKNOWN_SIZE;
				}
				try {
					// Pipes and the files of /proc have no size, but bytes all the same.
					return (file.size() > 0) ? file.size() - file.position() : IpcTarget.UNKNOWN_SIZE;
				}
				catch (IOException ex) {
					return IpcTarget.UNKNOWN_SIZE;
				}
			}

			@Override
			public void close() throws IOException {
				channel.close();
			}

		}, this.allocator));
	}

	/**
	 * Makes a feed for Arrow IPC data that is pushed, such as the body of an HTTP
	 * request. It needs no thread.
	 * @return the feed, owned by the caller
	 */
	public IpcFeed ipcFeed() {
		return new PushFeed(this.allocator, this.readAhead,
				(schema, batches) -> source(schema, batches, Function.identity()));
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
		Map<Long, Field> fields = owning(roots,
				() -> (dictionaries != null) ? Map.copyOf(DictionaryFields.of(schema, dictionaries)) : Map.of());
		return background(schema, fields,
				owning(roots, () -> new RootBatches(schema, dictionaries, roots, this.allocator)));
	}

	/**
	 * Makes a source of batches that a blocking iterator gives away.
	 * @param schema the schema of all batches, in memory format
	 * @param batches the batches; closed at the end if it is {@link AutoCloseable}
	 * @return the source
	 */
	public StreamingWriteSource fromBatches(Schema schema, Iterator<RecordBatch> batches) {
		return background(schema, Map.of(), new CheckedBatches(schema, batches));
	}

	/**
	 * Makes a source of an existing stream, passed through without another hop.
	 * @param stream the stream, taken over
	 * @return the source
	 */
	public StreamingWriteSource fromStream(RecordBatchStream stream) {
		return owning(stream,
				() -> source(new IpcSchema(stream.schema(), stream.dictionaryFields()), stream, Function.identity()));
	}

	/**
	 * Returns how many batches the streams of this factory have given out so far.
	 * @return the number
	 */
	public long batches() {
		return this.counters.batches();
	}

	/**
	 * Returns how many rows the streams of this factory have given out so far.
	 * @return the number
	 */
	public long rows() {
		return this.counters.rows();
	}

	private StreamingWriteSource background(Schema schema, Map<Long, Field> dictionaryFields,
			Iterator<RecordBatch> batches) {
		AsyncIterator<RecordBatch> iterator = owning(batches,
				() -> BackgroundIterator.of(batches, this.executor, this.readAhead));
		return source(new IpcSchema(schema, dictionaryFields), iterator, Function.identity());
	}

	/**
	 * Opens a source in the background; its first item is the schema.
	 */
	private CompletionStage<StreamingWriteSource> open(OpenableBatches batches) {
		AsyncIterator<OpeningIterator.Item> iterator;
		try {
			iterator = owning(batches,
					() -> BackgroundIterator.of(new OpeningIterator(batches), this.executor, this.readAhead));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
		return FirstStep.of(iterator, (first) -> {
			IpcSchema schema = first.map(OpeningIterator.Item::schema).orElseThrow();
			return source(schema, iterator, (item) -> Objects.requireNonNull(item.batch()));
		}, StreamingWriteSource::close);
	}

	/**
	 * Makes something of what was taken over, or closes that.
	 */
	private static <T> T owning(Object taken, Supplier<T> maker) {
		try {
			return maker.get();
		}
		catch (Throwable ex) {
			try {
				if (taken instanceof AutoCloseable closeable) {
					closeable.close();
				}
			}
			catch (Exception closeFailure) {
				ex.addSuppressed(closeFailure);
			}
			throw ex;
		}
	}

	private <T> StreamingWriteSource source(IpcSchema schema, AsyncIterator<T> items, Function<T, RecordBatch> batch) {
		return new StreamSource(RecordBatchStream.from(schema.schema(), schema.dictionaryFields(),
				new CountingStep<>(items, batch, this.counters)));
	}

}
