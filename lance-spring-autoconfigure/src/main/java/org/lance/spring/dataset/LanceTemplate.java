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

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;

import org.apache.arrow.memory.BufferAllocator;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.EngineFuture;
import org.lance.spring.stream.RecordBatchStream;

/**
 * {@link LanceOperations} on lance-core, embedded in this JVM.
 * <p>
 * A write needs a thread for as long as it lasts. The template has a bounded number of
 * them, made when needed and ended when idle; more writes wait without a thread, up to a
 * limit. Reads run on the background executor.
 * <p>
 * <b>Ownership.</b> Owns its threads only: allocator and executor are the caller's, and
 * must be closed after {@link #closed()} has ended. <b>Threads.</b> Any.
 *
 * @since 0.1.0
 */
public class LanceTemplate implements LanceOperations, AutoCloseable {

	private final BufferAllocator allocator;

	private final BackgroundExecutor background;

	private final NativeDatasets datasets;

	private final WritePool pool;

	private volatile boolean closing;

	/**
	 * Creates a template.
	 * @param allocator for what is passed to and from native code
	 * @param background runs reads
	 * @param writeThreads how many writes may run at once, 1 or more; twice as many and
	 * 100 more may wait
	 */
	public LanceTemplate(BufferAllocator allocator, BackgroundExecutor background, int writeThreads) {
		this(allocator, background, new WritePool(writeThreads, Thread.currentThread().getContextClassLoader()));
	}

	LanceTemplate(BufferAllocator allocator, BackgroundExecutor background, WritePool pool) {
		this.allocator = allocator;
		this.background = background;
		this.datasets = new NativeDatasets(allocator);
		this.pool = pool;
	}

	@Override
	public CompletionStage<LanceWriteResult> write(String uri, StreamingWriteSource source, LanceWriteMode mode) {
		try {
			checkUri(uri);
			StorableSchema.check(source.arrowSchema());
			StorableSchema.checkDictionaries(source.arrowSchema(), source.dictionaryFields());
			WriteJob job = new WriteJob(uri, mode, source, this.datasets, this.allocator, this.pool);
			this.pool.submit(job);
			return job.future();
		}
		catch (RuntimeException | Error ex) {
			source.close();
			return failed(ex);
		}
	}

	@Override
	public CompletionStage<RecordBatchStream> scan(String uri, LanceScan scan) {
		return ScanCalls.stream(read(uri, () -> this.datasets.scan(uri, scan)), this.background);
	}

	@Override
	public CompletionStage<Long> countRows(String uri) {
		return read(uri, () -> this.datasets.countRows(uri));
	}

	@Override
	public CompletionStage<LanceTable> describe(String uri) {
		return read(uri, () -> this.datasets.describe(uri));
	}

	@Override
	public CompletionStage<Boolean> exists(String uri) {
		return read(uri, () -> this.datasets.exists(uri));
	}

	private <T> EngineFuture<T> read(String uri, Callable<T> call) {
		try {
			checkUri(uri);
			if (this.closing) {
				throw WritePool.closedException(uri);
			}
			return BackgroundCalls.run(this.background, call);
		}
		catch (RuntimeException ex) {
			return failed(ex);
		}
	}

	/**
	 * An empty address would be the working directory.
	 */
	private static void checkUri(String uri) {
		if (uri.isBlank() || uri.chars().anyMatch(Character::isISOControl)) {
			throw new IllegalArgumentException(
					"'uri' must be a path or a URI without control characters, but was '" + uri.strip() + "'");
		}
	}

	private static <T> EngineFuture<T> failed(Throwable failure) {
		EngineFuture<T> future = new EngineFuture<>();
		future.completeExceptionally(failure);
		return future;
	}

	/**
	 * Returns how many writes are running or waiting.
	 * @return the number
	 */
	public int openWrites() {
		return this.pool.openWrites();
	}

	/**
	 * Takes no more writes (until {@link #resume()}), lets open ones end within the time,
	 * then makes the rest fail with a {@link LanceClosedException}. Never blocks. Reads
	 * go on.
	 * @param grace how long open writes may go on
	 * @return the stage that ends when no write is open
	 */
	public CompletionStage<Void> drain(Duration grace) {
		return this.pool.drain(grace);
	}

	/**
	 * Takes writes again after a {@link #drain(Duration)}, whose stage is cancelled if it
	 * has not ended.
	 */
	public void resume() {
		this.pool.resume();
	}

	/**
	 * Ends all writes: they commit nothing and fail with a {@link LanceClosedException}.
	 * Waits for none of them. Scans that are open live on until their streams are closed.
	 */
	@Override
	public void close() {
		this.closing = true;
		this.pool.close();
	}

	/**
	 * Returns the stage that ends when the last write has ended after {@link #close()}.
	 * @return the stage
	 */
	public CompletionStage<Void> closed() {
		return this.pool.closed();
	}

}
