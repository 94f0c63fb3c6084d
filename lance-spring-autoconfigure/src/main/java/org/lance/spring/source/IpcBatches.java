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
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.NoSuchElementException;

import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.ArrowDataException;
import org.lance.spring.stream.RecordBatch;

/**
 * Pulls Arrow IPC data from a channel through the decoder. Small reads go through a
 * buffer; large bodies are read straight into Arrow memory.
 */
final class IpcBatches implements OpenableBatches {

	private static final int BUFFER = 16 * 1024;

	private final Opener opener;

	private final BufferAllocator allocator;

	private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER).limit(0);

	private @Nullable ReadableByteChannel channel;

	private @Nullable IpcDecoder decoder;

	private long size = IpcTarget.UNKNOWN_SIZE;

	private @Nullable RecordBatch next;

	private @Nullable ArrowDataException failure;

	IpcBatches(Opener opener, BufferAllocator allocator) {
		this.opener = opener;
		this.allocator = allocator;
	}

	@Override
	public IpcSchema open() throws IOException {
		this.channel = this.opener.open();
		this.size = this.opener.size(this.channel);
		IpcDecoder opened = new IpcDecoder(this.allocator, this.size);
		this.decoder = opened;
		while (opened.schema() == null) {
			readSchema(opened, this.channel);
		}
		return opened.schema();
	}

	/**
	 * The bytes with the schema may have the first batch as well, or what is wrong with
	 * it; that is for whoever asks for it.
	 */
	private void readSchema(IpcDecoder opened, ReadableByteChannel from) throws IOException {
		try {
			this.next = step(opened, from);
		}
		catch (ArrowDataException ex) {
			if (opened.schema() == null) {
				throw ex;
			}
			this.failure = ex;
		}
	}

	@Override
	public boolean hasNext() {
		if (this.failure != null) {
			throw this.failure;
		}
		IpcDecoder current = this.decoder;
		ReadableByteChannel from = this.channel;
		if (current == null || from == null) {
			return false;
		}
		try {
			while (this.next == null && !current.isEnded()) {
				this.next = step(current, from);
			}
			if (this.next == null) {
				checkEnd(current, from);
			}
			return this.next != null;
		}
		catch (IOException ex) {
			throw sneaky(ex);
		}
	}

	private @Nullable RecordBatch step(IpcDecoder current, ReadableByteChannel from) throws IOException {
		ByteBuffer target = current.window();
		if (this.buffer.hasRemaining() || target.remaining() < BUFFER) {
			if (!this.buffer.hasRemaining() && !fill(from)) {
				current.finish();
				return null;
			}
			return current.decode(this.buffer);
		}
		int read = from.read(target);
		if (read < 0) {
			current.finish();
			return null;
		}
		return current.filled();
	}

	private boolean fill(ReadableByteChannel from) throws IOException {
		int read = from.read(this.buffer.clear());
		this.buffer.flip();
		return read >= 0;
	}

	/**
	 * Where the end of the input is known, nothing may follow the end of the stream.
	 * Other inputs are not asked for more than the stream has: that could wait for ever.
	 */
	private void checkEnd(IpcDecoder current, ReadableByteChannel from) throws IOException {
		if (this.size != IpcTarget.UNKNOWN_SIZE
				&& (this.buffer.hasRemaining() || (fill(from) && this.buffer.hasRemaining()))) {
			current.decode(this.buffer);
		}
	}

	@Override
	public RecordBatch next() {
		RecordBatch result = hasNext() ? this.next : null;
		if (result == null) {
			throw new NoSuchElementException();
		}
		this.next = null;
		return result;
	}

	@Override
	public void close() throws IOException {
		if (this.next != null) {
			this.next.close();
		}
		if (this.decoder != null) {
			this.decoder.close();
		}
		this.opener.close();
		if (this.channel != null) {
			this.channel.close();
		}
	}

	/**
	 * An iterator can't declare it, yet the caller is to get the very exception.
	 */
	@SuppressWarnings("unchecked")
	private static <E extends Throwable> RuntimeException sneaky(Throwable failure) throws E {
		throw (E) failure;
	}

	/**
	 * Opens the channel in the background.
	 */
	interface Opener {

		ReadableByteChannel open() throws IOException;

		/**
		 * The bytes from the channel's position to its end, or
		 * {@link IpcDecoder#UNKNOWN_SIZE}.
		 */
		default long size(ReadableByteChannel channel) throws IOException {
			return IpcTarget.UNKNOWN_SIZE;
		}

		/**
		 * Closes what was taken over, also if the channel was never opened.
		 */
		default void close() throws IOException {
		}

	}

}
