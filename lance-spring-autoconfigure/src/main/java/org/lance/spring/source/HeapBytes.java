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
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A known or greatest number of bytes that are still to come, on the heap. It grows as
 * they really arrive: a length that merely claims much costs nothing.
 */
final class HeapBytes {

	private static final int STEP = 64 * 1024;

	private final int length;

	private ByteBuffer window;

	HeapBytes(int length) {
		this.length = length;
		this.window = ByteBuffer.allocate(Math.min(length, STEP));
	}

	/**
	 * Where the next bytes go; has no space left when all of them arrived.
	 */
	ByteBuffer window() {
		if (!this.window.hasRemaining() && this.window.capacity() < this.length) {
			int filled = this.window.position();
			int capacity = (int) Math.min(this.length, 2L * filled);
			this.window = ByteBuffer.wrap(Arrays.copyOf(this.window.array(), capacity));
			this.window.position(filled);
		}
		return this.window;
	}

	int filled() {
		return this.window.position();
	}

	/**
	 * The bytes that arrived, little-endian.
	 */
	ByteBuffer bytes() {
		return this.window.duplicate().flip().slice().order(ByteOrder.LITTLE_ENDIAN);
	}

}
