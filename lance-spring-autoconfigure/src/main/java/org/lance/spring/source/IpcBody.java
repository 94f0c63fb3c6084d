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

import java.nio.ByteBuffer;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The body of one message, in one Arrow allocation, filled as its bytes arrive. Up to
 * {@value #AT_ONCE} bytes, or what the input is known to have, are allocated at once; a
 * longer body grows with the bytes that really came, so that a length that merely claims
 * much costs nothing.
 */
final class IpcBody implements AutoCloseable {

	private static final long AT_ONCE = 16 << 20;

	private static final int WINDOW = 1 << 30;

	private final BufferAllocator allocator;

	private final long length;

	private ArrowBuf buffer;

	private ByteBuffer window;

	/**
	 * Where the window starts.
	 */
	private long start;

	/**
	 * Creates a body.
	 * @param length its length
	 * @param certain whether the input is known to have that many bytes
	 */
	IpcBody(BufferAllocator allocator, long length, boolean certain) {
		this.allocator = allocator;
		this.length = length;
		this.buffer = allocator.buffer(certain ? length : Math.min(length, AT_ONCE));
		this.window = view(0);
	}

	long length() {
		return this.length;
	}

	long filled() {
		return this.start + this.window.position();
	}

	boolean isFull() {
		return filled() == this.length;
	}

	/**
	 * Where the next bytes go.
	 */
	ByteBuffer window() {
		if (!this.window.hasRemaining() && !isFull()) {
			long filled = filled();
			if (filled >= this.buffer.capacity()) {
				grow(filled);
			}
			this.window = view(filled);
			this.start = filled;
		}
		return this.window;
	}

	private ByteBuffer view(long from) {
		long end = Math.min(this.length, this.buffer.capacity());
		return this.buffer.nioBuffer(from, (int) Math.min(end - from, WINDOW));
	}

	private void grow(long filled) {
		ArrowBuf larger = this.allocator.buffer(Math.min(this.length, 2 * filled));
		larger.setBytes(0, this.buffer, 0, filled);
		this.buffer.close();
		this.buffer = larger;
	}

	/**
	 * The bytes, borrowed; only once all of them are here.
	 */
	ArrowBuf buffer() {
		return this.buffer;
	}

	@Override
	public void close() {
		this.buffer.close();
	}

}
