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
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.DictionaryVersion;
import org.lance.spring.stream.IpcEncoder;
import org.lance.spring.stream.RecordBatch;

/**
 * The batches that one spill holds in memory, within its own limit and the shared budget.
 * An allocation behind several batches counts once and whole. Small batches are packed.
 * Guarded by the lock of its spill.
 */
final class SpillMemory {

	private static final int PAGE_SIZE = 1 << 20;

	private final long limit;

	private final MemoryBudget budget;

	private final BufferAllocator allocator;

	private final Schema schema;

	private final PackedEncoder encoder;

	private final Map<Object, Long> allocations = new IdentityHashMap<>();

	private List<MemorySegment> segments = new ArrayList<>();

	/**
	 * The page that takes more batches: the last segment, or none.
	 */
	private @Nullable BatchPage page;

	private int size;

	private long heap;

	private volatile long bytes;

	/**
	 * Creates an empty memory.
	 * @param limit the bytes that may be held; 0 holds nothing, not even an empty batch
	 * @param budget the bytes that all spills may hold together
	 * @param allocator where small batches are packed
	 * @param schema the schema of all batches
	 */
	SpillMemory(long limit, MemoryBudget budget, BufferAllocator allocator, Schema schema) {
		this.limit = limit;
		this.budget = budget;
		this.allocator = allocator;
		this.schema = schema;
		this.encoder = new PackedEncoder(schema);
	}

	/**
	 * Returns a batch as it is worth keeping: one that keeps much more memory alive than
	 * its data is copied. Takes no lock and changes nothing.
	 * @param batch the batch, taken over, also on failure
	 * @return the batch, owned by the caller
	 */
	RecordBatch compact(RecordBatch batch) {
		try {
			if (this.limit == 0 || PackedEncoder.isSmall(batch)) {
				return batch;
			}
			RecordBatch compact = batch.compact(this.allocator);
			batch.close();
			return compact;
		}
		catch (OutOfMemoryException ex) {
			// Then as it is: it counts with all that it keeps alive.
			return batch;
		}
		catch (Throwable ex) {
			batch.close();
			throw ex;
		}
	}

	/**
	 * Takes a batch over if it fits.
	 */
	Fit tryAdd(RecordBatch batch) {
		return add(batch, this.limit);
	}

	/**
	 * Takes a batch over if it fits into the shared budget.
	 */
	Fit addBeyondLimit(RecordBatch batch) {
		return add(batch, Long.MAX_VALUE);
	}

	private Fit add(RecordBatch batch, long most) {
		if (most == 0) {
			return Fit.OVER_LIMIT;
		}
		IpcEncoder.Message message = this.encoder.encode(batch);
		return (message != null) ? pack(batch, message, most) : share(batch, most);
	}

	private Fit share(RecordBatch batch, long most) {
		Map<Object, Long> own = new IdentityHashMap<>();
		batch.forEachAllocation(this.allocations::containsKey, own::put);
		Fit fit = reserve(own, 0, most);
		if (fit == Fit.ADDED) {
			this.segments.add(new SharedBatch(this.size++, batch));
			this.page = null;
		}
		return fit;
	}

	private Fit pack(RecordBatch batch, IpcEncoder.Message message, long most) {
		BatchPage current = this.page;
		if (current != null && current.takes(message.length(), batch.dictionaries())) {
			Fit fit = reserve(Map.of(), BatchPage.HEAP_PER_BATCH, most);
			if (fit == Fit.ADDED) {
				pack(batch, message, current);
			}
			return fit;
		}
		long pageSize = nextPageSize(message);
		Fit fit = packIntoNew(batch, message, pageSize, most);
		if (fit == Fit.ADDED || pageSize == message.length()) {
			return fit;
		}
		// A page of its own is what is really needed.
		return packIntoNew(batch, message, message.length(), most);
	}

	/**
	 * Pages grow with what goes into them one after the other, so that a spill of a few
	 * small batches needs little.
	 */
	private long nextPageSize(IpcEncoder.Message message) {
		BatchPage last = this.page;
		return Math.max(message.length(), (last != null) ? Math.min(PAGE_SIZE, 2L * last.used()) : 0);
	}

	private Fit packIntoNew(RecordBatch batch, IpcEncoder.Message message, long pageSize, long most) {
		BatchPage next;
		try {
			next = new BatchPage(this.size, this.schema, batch.dictionaries(), this.allocator, (int) pageSize);
		}
		catch (OutOfMemoryException ex) {
			return share(batch, most);
		}
		Map<Object, Long> own = new IdentityHashMap<>();
		own.put(next.memory(), next.memory().getSize());
		for (DictionaryVersion version : batch.dictionaries()) {
			version.forEachAllocation(this.allocations::containsKey, own::put);
		}
		Fit fit = reserve(own, BatchPage.HEAP + BatchPage.HEAP_PER_BATCH, most);
		if (fit != Fit.ADDED) {
			next.close();
			return fit;
		}
		this.segments.add(next);
		this.page = next;
		pack(batch, message, next);
		return fit;
	}

	private void pack(RecordBatch batch, IpcEncoder.Message message, BatchPage into) {
		into.add(message);
		this.size++;
		batch.close();
	}

	/**
	 * Reserves allocations that are not held yet.
	 */
	private Fit reserve(Map<Object, Long> own, long heapSize, long most) {
		long added = heapSize;
		for (long allocation : own.values()) {
			added += allocation;
		}
		if (added > most - this.bytes) {
			return Fit.OVER_LIMIT;
		}
		if (!this.budget.tryReserve(own, heapSize)) {
			return Fit.BUDGET_SHORT;
		}
		this.allocations.putAll(own);
		this.heap += heapSize;
		this.bytes += added;
		return Fit.ADDED;
	}

	/**
	 * Returns another handle on a batch.
	 */
	RecordBatch share(int index) {
		return share(this.segments, index);
	}

	private static RecordBatch share(List<MemorySegment> segments, int index) {
		int low = 0;
		int high = segments.size() - 1;
		while (low < high) {
			int middle = (low + high + 1) >>> 1;
			if (segments.get(middle).first() <= index) {
				low = middle;
			}
			else {
				high = middle - 1;
			}
		}
		return segments.get(low).share(index);
	}

	/**
	 * Returns the batches that are held now, one after the other, for use outside the
	 * lock while nothing is let go of. Each is owned by whoever takes it.
	 */
	Iterator<RecordBatch> contents() {
		List<MemorySegment> held = List.copyOf(this.segments);
		int count = this.size;
		return new Iterator<>() {

			private int next;

			@Override
			public boolean hasNext() {
				return this.next < count;
			}

			@Override
			public RecordBatch next() {
				if (!hasNext()) {
					throw new NoSuchElementException();
				}
				return share(held, this.next++);
			}

		};
	}

	/**
	 * Returns the number of batches.
	 */
	int size() {
		return this.size;
	}

	long limit() {
		return this.limit;
	}

	/**
	 * Returns the bytes held; may be asked without the lock.
	 */
	long bytes() {
		return this.bytes;
	}

	/**
	 * Lets go of all batches.
	 * @return gives memory and budget back; to be run outside the lock
	 */
	Runnable clear() {
		List<MemorySegment> dropped = this.segments;
		List<Object> held = new ArrayList<>(this.allocations.keySet());
		long reservedHeap = this.heap;
		this.segments = new ArrayList<>();
		this.page = null;
		this.size = 0;
		this.allocations.clear();
		this.heap = 0;
		this.bytes = 0;
		return () -> {
			dropped.forEach(MemorySegment::close);
			this.budget.giveBack(held, reservedHeap);
		};
	}

	/**
	 * Whether a batch fits.
	 */
	enum Fit {

		/**
		 * It was taken over.
		 */
		ADDED,

		/**
		 * The spill would hold more than it may.
		 */
		OVER_LIMIT,

		/**
		 * All spills together would hold more than they may.
		 */
		BUDGET_SHORT

	}

}
