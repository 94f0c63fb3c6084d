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

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.BufferLedger;
import org.apache.arrow.memory.ReferenceManager;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.jspecify.annotations.Nullable;

/**
 * The body of a batch or dictionary after the hand-off from its producer: immutable, with
 * a reference count of its own. Memory under the allocator's root is kept by reference;
 * any other is copied into one allocation, so that the producer may close its allocator.
 *
 * @param body the buffers, owned by {@code memory}; never closed itself
 * @param memory the reference count
 */
record SealedBuffers(ArrowRecordBatch body, BatchMemory memory) {

	private static final long ALIGNMENT = 8;

	/**
	 * Memory that is not worth a copy to be freed.
	 */
	private static final long WORTH_COPYING = 16 << 10;

	/**
	 * Seals a body.
	 * @param body the body; the caller keeps its own references
	 * @param keep which memory is kept by reference
	 * @param missing validity buffers to fill in
	 */
	static SealedBuffers seal(ArrowRecordBatch body, Keep keep, List<MissingValidity> missing,
			BufferAllocator allocator) {
		List<ArrowBuf> held = new ArrayList<>();
		try {
			List<ArrowBuf> sources = body.getBuffers();
			ArrowBuf[] buffers = new ArrowBuf[sources.size()];
			long copied = 0;
			for (int i = 0; i < buffers.length; i++) {
				ArrowBuf source = sources.get(i);
				if (available(source) > 0 && !keep.keeps(source, allocator)) {
					copied += align(available(source));
				}
			}
			long fill = missing.stream().mapToLong(MissingValidity::bytes).max().orElse(0);
			ArrowBuf target = allocator.getEmpty();
			if (copied + fill > 0) {
				target = allocator.buffer(copied + 2 * align(fill));
				held.add(target);
			}
			long position = 0;
			for (int i = 0; i < buffers.length; i++) {
				ArrowBuf source = sources.get(i);
				long length = available(source);
				if (length == 0) {
					buffers[i] = allocator.getEmpty();
				}
				else if (!keep.keeps(source, allocator)) {
					target.setBytes(position, source, source.readerIndex(), length);
					buffers[i] = target.slice(position, length);
					position += align(length);
				}
				else {
					ArrowBuf whole = source.getReferenceManager().retain(source, allocator);
					held.add(whole);
					buffers[i] = whole.slice(source.readerIndex(), length);
				}
			}
			fillIn(missing, buffers, target, position, align(fill));
			return of(body, buffers, held, allocator);
		}
		catch (Throwable ex) {
			held.forEach(ArrowBuf::close);
			throw ex;
		}
	}

	private static void fillIn(List<MissingValidity> missing, ArrowBuf[] buffers, ArrowBuf target, long position,
			long fill) {
		if (missing.isEmpty()) {
			return;
		}
		target.setOne(position, fill);
		target.setZero(position + fill, fill);
		for (MissingValidity validity : missing) {
			if (validity.bytes() > 0) {
				buffers[validity.buffer()] = target.slice(validity.allNull() ? position + fill : position,
						validity.bytes());
			}
		}
	}

	private static SealedBuffers of(ArrowRecordBatch source, ArrowBuf[] buffers, List<ArrowBuf> held,
			BufferAllocator allocator) {
		Map<Object, Long> chunks = new IdentityHashMap<>();
		for (ArrowBuf buffer : held) {
			ReferenceManager manager = buffer.getReferenceManager();
			if (manager instanceof BatchMemory memory) {
				memory.forEachChunk(chunks::put);
			}
			else if (manager instanceof BufferLedger ledger) {
				chunks.put(ledger.getAllocationManager(), manager.getSize());
			}
			else {
				chunks.put(manager, manager.getSize());
			}
		}
		long size = chunks.values().stream().mapToLong(Long::longValue).sum();
		BatchMemory memory = new BatchMemory(allocator, size, chunks::forEach, () -> held.forEach(ArrowBuf::close));
		List<ArrowBuf> views = new ArrayList<>(buffers.length);
		for (ArrowBuf buffer : buffers) {
			// Also if it is empty: Arrow writes to the one empty buffer of the allocator.
			views.add(memory.buffer(buffer.memoryAddress(), buffer.capacity()));
		}
		return new SealedBuffers(body(source.getLength(), source.getNodes(), views, source.getVariadicBufferCounts()),
				memory);
	}

	/**
	 * Whether much more memory is kept alive than the buffers use.
	 */
	boolean isWasteful() {
		long kept = chunks().values().stream().mapToLong(Long::longValue).sum();
		long used = this.body.getBuffers().stream().mapToLong(SealedBuffers::available).sum();
		return kept - used > Math.max(used, WORTH_COPYING);
	}

	private Map<Object, Long> chunks() {
		Map<Object, Long> chunks = new IdentityHashMap<>();
		this.memory.forEachChunk(chunks::put);
		return chunks;
	}

	/**
	 * Copies the buffers into one allocation of their size.
	 */
	SealedBuffers copy(BufferAllocator allocator) {
		return seal(this.body, Keep.NOTHING, List.of(), allocator);
	}

	static ArrowRecordBatch body(int length, List<ArrowFieldNode> nodes, List<ArrowBuf> buffers,
			@Nullable List<Long> variadicBufferCounts) {
		return new ArrowRecordBatch(length, nodes, buffers, NoCompressionCodec.DEFAULT_BODY_COMPRESSION,
				(variadicBufferCounts != null) ? variadicBufferCounts : List.of(), true, false);
	}

	/**
	 * The bytes that can be read: the indexes of a buffer are not bound to its capacity.
	 */
	static long available(ArrowBuf buffer) {
		return Math.max(0, Math.min(buffer.writerIndex(), buffer.capacity()) - buffer.readerIndex());
	}

	private static long align(long length) {
		return (length + ALIGNMENT - 1) & -ALIGNMENT;
	}

	/**
	 * Which memory is kept by reference; the rest is copied. Memory of another root is
	 * always copied, so that whoever made it may close its allocator, and so is memory
	 * that is not aligned as the format asks, because native code ends the JVM over it.
	 */
	enum Keep {

		/**
		 * All that belongs to the root of the allocator: the producer never writes into
		 * it again.
		 */
		OWN_ROOT,

		/**
		 * Only what was sealed before: the producer may append in place, as Arrow's
		 * readers do with the deltas of a dictionary.
		 */
		SEALED,

		/**
		 * Nothing.
		 */
		NOTHING;

		boolean keeps(ArrowBuf buffer, BufferAllocator allocator) {
			ReferenceManager manager = buffer.getReferenceManager();
			return this != NOTHING && (this == OWN_ROOT || manager instanceof BatchMemory)
					&& manager.getAllocator().getRoot() == allocator.getRoot()
					&& ((buffer.memoryAddress() + buffer.readerIndex()) & (ALIGNMENT - 1)) == 0;
		}

	}

	/**
	 * A validity buffer that its writer left out, because nothing or everything is null.
	 * Readers would have to allocate it on every load.
	 *
	 * @param buffer the index of the buffer in the body
	 * @param length the number of values
	 * @param allNull whether all values are null, otherwise none is
	 */
	record MissingValidity(int buffer, int length, boolean allNull) {

		long bytes() {
			return (this.length + 7L) / 8;
		}

	}

}
