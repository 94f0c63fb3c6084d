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

package org.lance.spring.spill;

import java.util.ArrayList;
import java.util.List;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Memory for what is made of one batch while it is written.
 * <p>
 * One thread at a time.
 */
final class ScratchMemory implements AutoCloseable {

	private final BufferAllocator allocator;

	private final List<ArrowBuf> buffers = new ArrayList<>();

	ScratchMemory(BufferAllocator allocator) {
		this.allocator = allocator;
	}

	/**
	 * Allocates memory that lives until this object is closed.
	 * @return the memory, borrowed
	 */
	ArrowBuf allocate(long bytes) {
		ArrowBuf buffer = this.allocator.buffer(bytes);
		this.buffers.add(buffer);
		return buffer;
	}

	@Override
	public void close() {
		this.buffers.forEach(ArrowBuf::close);
		this.buffers.clear();
	}

}
