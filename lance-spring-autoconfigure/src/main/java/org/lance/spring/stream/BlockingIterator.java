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
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * The blocking view of an asynchronous iterator. An interrupt ends the wait with a
 * {@link CancellationException}, and the thread stays interrupted.
 *
 * @param <T> the type of the items
 */
final class BlockingIterator<T> implements Iterator<T> {

	private final AsyncIterator<T> source;

	/**
	 * Found by {@link #hasNext()} and not taken yet. Atomic, because the source may be
	 * closed by another thread, and then this item is nobody's.
	 */
	private final AtomicReference<@Nullable T> item = new AtomicReference<>();

	private volatile boolean closed;

	private boolean over;

	BlockingIterator(AsyncIterator<T> source) {
		this.source = source;
		// The source is closed before its end only by a caller that wants no more.
		source.closed().whenComplete((done, failure) -> {
			this.closed = true;
			Items.discard(this.item.getAndSet(null));
		});
	}

	@Override
	public boolean hasNext() {
		if (this.item.get() == null && !this.over) {
			EngineThreads.checkMayBlock();
			T found = await().orElse(null);
			this.over = found == null;
			this.item.set(found);
			if (found != null && this.closed) {
				// Closed while the item was on its way here, maybe too late to be given
				// back
				// by that.
				Items.discard(this.item.getAndSet(null));
				throw closedException();
			}
			return found != null;
		}
		return this.item.get() != null;
	}

	@Override
	public T next() {
		if (!hasNext()) {
			throw new NoSuchElementException();
		}
		T found = this.item.getAndSet(null);
		if (found == null) {
			throw closedException();
		}
		return found;
	}

	private static CancellationException closedException() {
		return new CancellationException("This iterator was closed");
	}

	private Optional<T> await() {
		CompletableFuture<Optional<T>> future = this.source.next().toCompletableFuture();
		try {
			return future.get();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			// An item that comes now is closed by the source.
			future.cancel(false);
			return future.join();
		}
		catch (ExecutionException ex) {
			Throwable cause = Failures.unwrap(ex);
			if (cause instanceof RuntimeException unchecked) {
				throw unchecked;
			}
			if (cause instanceof Error error) {
				throw error;
			}
			throw new CompletionException(cause);
		}
	}

}
