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

import java.io.IOException;
import java.util.Map;
import java.util.Set;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.Failures;
import org.lance.spring.stream.RecordBatchStream;

/**
 * The reader that native code pulls, on threads of its own. Native code turns a failure
 * into text, so the reader remembers it, and answers with the first one for good.
 */
final class WriteReader extends ArrowReader {

	private final RecordBatchStream stream;

	private final ArrowReader reader;

	private final @Nullable ClassLoader contextClassLoader;

	private volatile @Nullable Throwable failure;

	private volatile boolean closed;

	private volatile long rows;

	private volatile long batches;

	private volatile long bytes;

	/**
	 * Creates a reader.
	 * @param stream the stream, taken over
	 * @param allocator for the vectors
	 * @param contextClassLoader for the native threads, which have none
	 */
	WriteReader(RecordBatchStream stream, BufferAllocator allocator, @Nullable ClassLoader contextClassLoader) {
		super(allocator);
		this.stream = stream;
		this.reader = stream.toReader(allocator);
		this.contextClassLoader = contextClassLoader;
	}

	/**
	 * Makes a pending and every later read fail.
	 * @param reason what they fail with, unless there was a failure before
	 */
	void fail(Throwable reason) {
		remember(reason);
		this.stream.close();
	}

	private synchronized Throwable remember(Throwable reason) {
		Throwable first = this.failure;
		if (first == null) {
			first = reason;
			this.failure = first;
		}
		return first;
	}

	@Nullable Throwable failure() {
		return this.failure;
	}

	boolean isClosed() {
		return this.closed;
	}

	@Override
	public boolean loadNextBatch() throws IOException {
		Thread thread = Thread.currentThread();
		ClassLoader before = thread.getContextClassLoader();
		thread.setContextClassLoader(this.contextClassLoader);
		try {
			return load();
		}
		catch (Throwable ex) {
			throw failed(remember(Failures.unwrap(ex)));
		}
		finally {
			thread.setContextClassLoader(before);
		}
	}

	private boolean load() throws IOException {
		do {
			Throwable first = this.failure;
			if (first != null) {
				throw failed(first);
			}
			if (!this.reader.loadNextBatch()) {
				return false;
			}
		}
		while (getVectorSchemaRoot().getRowCount() == 0);
		VectorSchemaRoot root = getVectorSchemaRoot();
		this.batches = this.batches + 1;
		this.rows = this.rows + root.getRowCount();
		long size = this.bytes;
		for (FieldVector vector : root.getFieldVectors()) {
			size += vector.getBufferSize();
		}
		this.bytes = size;
		return true;
	}

	/**
	 * Native code copies the whole stack trace into its message, which nobody is to read.
	 */
	private static IOException failed(Throwable reason) {
		IOException failure = new IOException("The source failed: " + reason);
		failure.setStackTrace(new StackTraceElement[0]);
		return failure;
	}

	long rows() {
		return this.rows;
	}

	long batches() {
		return this.batches;
	}

	long bytes() {
		return this.bytes;
	}

	@Override
	public VectorSchemaRoot getVectorSchemaRoot() throws IOException {
		return this.reader.getVectorSchemaRoot();
	}

	@Override
	public Map<Long, Dictionary> getDictionaryVectors() throws IOException {
		return this.reader.getDictionaryVectors();
	}

	@Override
	public Dictionary lookup(long id) {
		return this.reader.lookup(id);
	}

	@Override
	public Set<Long> getDictionaryIds() {
		return this.reader.getDictionaryIds();
	}

	@Override
	public long bytesRead() {
		return this.reader.bytesRead();
	}

	@Override
	protected void closeReadSource() {
		// Closed by close().
	}

	@Override
	protected Schema readSchema() {
		return this.stream.schema();
	}

	@Override
	public void close() throws IOException {
		close(true);
	}

	@Override
	public void close(boolean closeReadSource) throws IOException {
		synchronized (this) {
			if (this.closed) {
				return;
			}
			this.closed = true;
		}
		this.reader.close(closeReadSource);
	}

}
