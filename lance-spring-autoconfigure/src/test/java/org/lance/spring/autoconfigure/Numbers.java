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

package org.lance.spring.autoconfigure;

import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.RecordBatch;

/**
 * A blocking iterator of batches with numbers, which can be made to wait before its last
 * batch.
 */
final class Numbers implements Iterator<RecordBatch>, AutoCloseable {

	static final Schema SCHEMA = new Schema(List.of(Field.nullable("n", new ArrowType.Int(64, true))));

	private static final int ROWS = 1000;

	private final BufferAllocator allocator;

	private final int batches;

	private final CountDownLatch last;

	private final CountDownLatch waiting = new CountDownLatch(1);

	private final AtomicInteger made = new AtomicInteger();

	private volatile String thread = "";

	private volatile boolean closed;

	private Numbers(BufferAllocator allocator, int batches, CountDownLatch last) {
		this.allocator = allocator;
		this.batches = batches;
		this.last = last;
	}

	/**
	 * So many batches.
	 */
	static Numbers of(BufferAllocator allocator, int batches) {
		return new Numbers(allocator, batches, new CountDownLatch(0));
	}

	/**
	 * So many batches, of which the last comes only when it is let go.
	 */
	static Numbers gated(BufferAllocator allocator, int batches) {
		return new Numbers(allocator, batches, new CountDownLatch(1));
	}

	static RecordBatch batch(BufferAllocator allocator) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(SCHEMA, allocator)) {
			BigIntVector vector = (BigIntVector) root.getVector(0);
			vector.allocateNew(ROWS);
			for (int i = 0; i < ROWS; i++) {
				vector.set(i, i);
			}
			root.setRowCount(ROWS);
			return RecordBatch.copyOf(root, null, allocator);
		}
	}

	@Override
	public boolean hasNext() {
		return this.made.get() < this.batches;
	}

	@Override
	public RecordBatch next() {
		this.thread = Thread.currentThread().getName();
		if (this.made.get() == this.batches - 1) {
			this.waiting.countDown();
			boolean interrupted = false;
			while (this.last.getCount() > 0) {
				try {
					this.last.await();
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
		this.made.incrementAndGet();
		return batch(this.allocator);
	}

	void letGo() {
		this.last.countDown();
	}

	/**
	 * Waits until the source is blocked before its last batch.
	 */
	boolean isBlocked() throws InterruptedException {
		return this.waiting.await(30, TimeUnit.SECONDS);
	}

	int made() {
		return this.made.get();
	}

	String thread() {
		return this.thread;
	}

	boolean isClosed() {
		return this.closed;
	}

	@Override
	public void close() {
		this.closed = true;
	}

}
