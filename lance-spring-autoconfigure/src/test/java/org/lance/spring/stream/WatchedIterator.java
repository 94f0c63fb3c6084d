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

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A blocking source that watches how it is used: never by two threads at once, closed
 * once, and what became of its items.
 */
class WatchedIterator implements Iterator<WatchedIterator.Item>, SizeHint.Provider, AutoCloseable {

	final AtomicInteger given = new AtomicInteger();

	final AtomicInteger openItems = new AtomicInteger();

	final AtomicInteger closed = new AtomicInteger();

	volatile Thread closedBy = Thread.currentThread();

	volatile boolean closedInterrupted;

	private final AtomicBoolean busy = new AtomicBoolean();

	private final int size;

	private IntConsumer before = (index) -> {
	};

	private Throwable onClose;

	WatchedIterator(int size) {
		this.size = size;
	}

	/** Does something before an item is given, such as to block or to fail. */
	WatchedIterator before(IntConsumer action) {
		this.before = action;
		return this;
	}

	/** Blocks before the item with that index until the latch is open. */
	WatchedIterator blockAt(int index, CountDownLatch reached, CountDownLatch latch) {
		return before((i) -> {
			if (i == index) {
				reached.countDown();
				try {
					latch.await();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
			}
		});
	}

	/** Fails before the item with that index. */
	WatchedIterator failAt(int index, Throwable failure) {
		return before((i) -> {
			if (i == index) {
				sneaky(failure);
			}
		});
	}

	WatchedIterator failOnClose(Throwable failure) {
		this.onClose = failure;
		return this;
	}

	@SuppressWarnings("unchecked")
	static <E extends Throwable> void sneaky(Throwable failure) throws E {
		throw (E) failure;
	}

	@Override
	public boolean hasNext() {
		enter();
		try {
			return this.given.get() < this.size;
		}
		finally {
			this.busy.set(false);
		}
	}

	@Override
	public Item next() {
		enter();
		try {
			int index = this.given.get();
			if (index == this.size) {
				throw new NoSuchElementException();
			}
			this.before.accept(index);
			this.given.incrementAndGet();
			return new Item(index);
		}
		finally {
			this.busy.set(false);
		}
	}

	@Override
	public SizeHint sizeHint() {
		enter();
		try {
			return SizeHint.exactly(this.size - this.given.get());
		}
		finally {
			this.busy.set(false);
		}
	}

	@Override
	public void close() {
		enter();
		this.closedBy = Thread.currentThread();
		this.closedInterrupted = Thread.currentThread().isInterrupted();
		this.closed.incrementAndGet();
		this.busy.set(false);
		if (this.onClose != null) {
			sneaky(this.onClose);
		}
	}

	private void enter() {
		assertThat(this.busy.compareAndSet(false, true)).as("one thread at a time").isTrue();
		assertThat(this.closed).as("closes").hasValue(0);
	}

	/**
	 * An item that has to be closed.
	 */
	final class Item implements AutoCloseable {

		final int index;

		private final AtomicBoolean open = new AtomicBoolean(true);

		Item(int index) {
			this.index = index;
			WatchedIterator.this.openItems.incrementAndGet();
		}

		@Override
		public void close() {
			assertThat(this.open.getAndSet(false)).as("item %d is closed once", this.index).isTrue();
			WatchedIterator.this.openItems.decrementAndGet();
		}

		@Override
		public String toString() {
			return "item " + this.index;
		}

	}

}
