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

import java.util.function.BiConsumer;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OwnershipTransferResult;
import org.apache.arrow.memory.ReferenceManager;
import org.jspecify.annotations.Nullable;

/**
 * The reference count of the memory behind one batch, as Arrow's buffers see it. Readers
 * in any allocator, also of another root, share the memory: they are not charged, and the
 * memory is freed once, when the last reference is gone. Memory that no allocator owns (a
 * mapped file) is carried the same way.
 * <p>
 * Starts with one reference, owned by whoever created it. May be used from any thread.
 * <p>
 * Public for the other packages of this library only; may change in any release.
 *
 * @since 0.1.0
 */
public final class BatchMemory implements ReferenceManager {

	private final References references = new References("The memory of a record batch");

	private final BufferAllocator allocator;

	private final long size;

	private final Chunks chunks;

	private final Runnable release;

	/**
	 * Creates the reference count of memory that is one chunk of its own.
	 * @param allocator answered to Arrow code that asks for the allocator of a buffer
	 * @param size the bytes held
	 * @param release frees the memory; run once, by the thread that drops the last
	 * reference
	 */
	public BatchMemory(BufferAllocator allocator, long size, Runnable release) {
		this(allocator, size, null, release);
	}

	BatchMemory(BufferAllocator allocator, long size, @Nullable Chunks chunks, Runnable release) {
		this.allocator = allocator;
		this.size = size;
		this.chunks = (chunks != null) ? chunks : (visitor) -> visitor.accept(this, size);
		this.release = release;
	}

	/**
	 * Returns a buffer over a part of the memory. It takes no reference: it may be used
	 * as long as somebody holds one.
	 * @param address where the part starts
	 * @param length its bytes
	 * @return the buffer, all of it readable
	 */
	public ArrowBuf buffer(long address, long length) {
		ArrowBuf buffer = new ArrowBuf(this, null, length, address);
		buffer.writerIndex(length);
		return buffer;
	}

	void forEachChunk(BiConsumer<Object, Long> visitor) {
		this.chunks.forEach(visitor);
	}

	/**
	 * Takes a reference if the memory is still held.
	 * @return whether a reference was taken
	 */
	public boolean tryRetain() {
		return this.references.tryRetain(1);
	}

	@Override
	public int getRefCount() {
		return this.references.count();
	}

	@Override
	public boolean release() {
		return release(1);
	}

	@Override
	public boolean release(int decrement) {
		boolean last = this.references.release(decrement);
		if (last) {
			this.release.run();
		}
		return last;
	}

	@Override
	public void retain() {
		retain(1);
	}

	@Override
	public void retain(int increment) {
		this.references.retain(increment);
	}

	@Override
	public ArrowBuf retain(ArrowBuf source, BufferAllocator target) {
		retain();
		return view(source);
	}

	@Override
	public ArrowBuf deriveBuffer(ArrowBuf source, long index, long length) {
		return new ArrowBuf(this, null, length, source.memoryAddress() + index);
	}

	@Override
	public OwnershipTransferResult transferOwnership(ArrowBuf source, BufferAllocator target) {
		retain();
		ArrowBuf transferred = view(source);
		return new OwnershipTransferResult() {

			@Override
			public boolean getAllocationFit() {
				return true;
			}

			@Override
			public ArrowBuf getTransferredBuffer() {
				return transferred;
			}

		};
	}

	private ArrowBuf view(ArrowBuf source) {
		ArrowBuf view = new ArrowBuf(this, null, source.capacity(), source.memoryAddress());
		view.readerIndex(source.readerIndex());
		view.writerIndex(source.writerIndex());
		return view;
	}

	@Override
	public BufferAllocator getAllocator() {
		return this.allocator;
	}

	@Override
	public long getSize() {
		return this.size;
	}

	@Override
	public long getAccountedSize() {
		return 0;
	}

	/**
	 * The allocations behind the memory, each with its identity and its whole size.
	 */
	@FunctionalInterface
	interface Chunks {

		void forEach(BiConsumer<Object, Long> visitor);

	}

}
