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

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.BatchMemory;
import org.lance.spring.stream.DictionaryVersion;
import org.lance.spring.stream.IpcEncoder;
import org.lance.spring.stream.RecordBatch;

/**
 * Small batches in a row with the same dictionaries, copied into one allocation as the
 * messages that a file would have. As objects of their own, a batch costs a kilobyte or
 * two of heap however few rows it has, and may keep a large allocation alive for one of
 * them; here it costs a few bytes.
 * <p>
 * Guarded by the lock of its spill, but a batch that was added never changes.
 */
final class BatchPage implements MemorySegment {

	/**
	 * What this object costs on the heap, about.
	 */
	static final int HEAP = 512;

	/**
	 * What each batch costs on the heap, about: the arrays grow by doubling.
	 */
	static final int HEAP_PER_BATCH = 16;

	private final int first;

	private final Schema schema;

	private final List<DictionaryVersion> versions;

	private final ArrowBuf buffer;

	private final BatchMemory memory;

	private int[] starts = new int[4];

	private int[] metadataLengths = new int[4];

	private int count;

	private int used;

	/**
	 * Allocates a page.
	 * @param first the index of its first batch
	 * @param versions the dictionaries of its batches; the page takes references
	 * @param size its bytes
	 * @throws org.apache.arrow.memory.OutOfMemoryException if the allocator refuses
	 */
	BatchPage(int first, Schema schema, List<DictionaryVersion> versions, BufferAllocator allocator, int size) {
		this.first = first;
		this.schema = schema;
		this.buffer = allocator.buffer(size);
		this.memory = new BatchMemory(allocator, this.buffer.getReferenceManager().getSize(), this.buffer::close);
		this.versions = new ArrayList<>(versions);
		this.versions.forEach(DictionaryVersion::retain);
	}

	/**
	 * Returns the memory of this page, which is its identity in all accounts.
	 */
	BatchMemory memory() {
		return this.memory;
	}

	int used() {
		return this.used;
	}

	/**
	 * Tells whether a message fits in.
	 */
	boolean takes(long length, List<DictionaryVersion> batchVersions) {
		if (length > this.buffer.capacity() - this.used || batchVersions.size() != this.versions.size()) {
			return false;
		}
		for (int i = 0; i < batchVersions.size(); i++) {
			if (batchVersions.get(i) != this.versions.get(i)) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Adds a batch that fits in.
	 */
	void add(IpcEncoder.Message message) {
		if (this.count == this.starts.length) {
			this.starts = Arrays.copyOf(this.starts, this.count * 2);
			this.metadataLengths = Arrays.copyOf(this.metadataLengths, this.count * 2);
		}
		this.starts[this.count] = this.used;
		this.metadataLengths[this.count] = message.metadataLength();
		for (ByteBuffer part : message.buffers()) {
			int length = part.remaining();
			this.buffer.setBytes(this.used, part.duplicate());
			this.used += length;
		}
		this.count++;
	}

	@Override
	public int first() {
		return this.first;
	}

	@Override
	public RecordBatch share(int index) {
		int at = index - this.first;
		int start = this.starts[at];
		int end = (at + 1 < this.count) ? this.starts[at + 1] : this.used;
		int metadataLength = this.metadataLengths[at];
		FileIndex.Position position = new FileIndex.Position(start, metadataLength, (long) end - start - metadataLength,
				0);
		MessageBytes bytes = new MessageBytes(this.buffer.memoryAddress() + start, position, 0, () -> {
		});
		ArrowRecordBatch body;
		try {
			body = bytes.batch(this.memory);
		}
		catch (DamagedException ex) {
			throw new IllegalStateException("Somebody wrote into the memory of a record batch", ex);
		}
		this.memory.retain();
		return RecordBatch.over(this.schema, body, this.versions, this.memory);
	}

	@Override
	public void close() {
		this.memory.release();
		this.versions.forEach(DictionaryVersion::close);
	}

}
