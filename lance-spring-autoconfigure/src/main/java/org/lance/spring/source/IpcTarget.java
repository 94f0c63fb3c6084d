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

import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Where the next bytes of the data go: to the heap, or into the body of a message. Counts
 * them, and checks what a message claims against what the input has left.
 */
final class IpcTarget implements AutoCloseable {

	static final long UNKNOWN_SIZE = -1;

	private final BufferAllocator allocator;

	private final long size;

	private HeapBytes bytes;

	private @Nullable IpcBody body;

	private @Nullable ByteBuffer window;

	/**
	 * How much of the window was counted.
	 */
	private int counted;

	private long position;

	/**
	 * Creates a target.
	 * @param allocator where bodies go
	 * @param size the bytes of the whole input, or {@link #UNKNOWN_SIZE}
	 * @param first how many bytes to expect first
	 */
	IpcTarget(BufferAllocator allocator, long size, int first) {
		this.allocator = allocator;
		this.size = size;
		this.bytes = new HeapBytes(first);
	}

	/**
	 * How many bytes there were.
	 */
	long position() {
		return this.position;
	}

	/**
	 * Where the next bytes go; never empty while something is expected.
	 */
	ByteBuffer window() {
		ByteBuffer current = this.window;
		if (current == null || !current.hasRemaining()) {
			current = (this.body != null) ? this.body.window() : this.bytes.window();
			this.window = current;
			this.counted = current.position();
		}
		return current;
	}

	/**
	 * Takes note of the bytes that were put into the window.
	 * @return whether all that was expected is here
	 */
	boolean filled() {
		ByteBuffer current = this.window;
		if (current == null) {
			return false;
		}
		this.position += current.position() - this.counted;
		this.counted = current.position();
		return !current.hasRemaining() && !window().hasRemaining();
	}

	/**
	 * Expects bytes on the heap.
	 */
	void expect(int length) {
		this.bytes = new HeapBytes(length);
		this.window = null;
	}

	/**
	 * Expects the body of a message.
	 */
	void expectBody(long length) {
		this.body = new IpcBody(this.allocator, length, this.size != UNKNOWN_SIZE);
		this.window = null;
	}

	/**
	 * The bytes on the heap.
	 */
	ByteBuffer bytes() {
		return this.bytes.bytes();
	}

	/**
	 * The body, owned by the caller from now on.
	 */
	IpcBody takeBody() {
		IpcBody taken = this.body;
		if (taken == null) {
			throw new IllegalStateException("There is no body now");
		}
		this.body = null;
		return taken;
	}

	/**
	 * Checks a length before anything of that length is expected.
	 * @throws TruncatedIpcException if the input does not have so many bytes
	 */
	void checkRemaining(long length, String of, long messageStart) {
		long left = this.size - this.position;
		if (this.size != UNKNOWN_SIZE && length > left) {
			throw new TruncatedIpcException(this.size,
					"the message at byte %d says that it has %s of %d bytes, but %d are left".formatted(messageStart,
							of, length, left));
		}
	}

	@Override
	public void close() {
		this.window = null;
		if (this.body != null) {
			this.body.close();
			this.body = null;
		}
	}

}
