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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.jspecify.annotations.Nullable;

/**
 * The blocking view of an asynchronous iterator.
 *
 * @param <T> the type of the items
 */
final class BlockingIterator<T> implements Iterator<T> {

	private final AsyncIterator<T> source;

	private @Nullable T item;

	private boolean over;

	BlockingIterator(AsyncIterator<T> source) {
		this.source = source;
	}

	@Override
	public boolean hasNext() {
		if (this.item == null && !this.over) {
			EngineThreads.checkMayBlock();
			this.item = await().orElse(null);
			this.over = this.item == null;
		}
		return this.item != null;
	}

	@Override
	public T next() {
		if (!hasNext() || this.item == null) {
			throw new NoSuchElementException();
		}
		T result = this.item;
		this.item = null;
		return result;
	}

	private Optional<T> await() {
		CompletableFuture<Optional<T>> future = this.source.next().toCompletableFuture();
		try {
			return future.join();
		}
		catch (CompletionException ex) {
			Throwable cause = Failures.unwrap(ex);
			if (cause instanceof RuntimeException unchecked) {
				throw unchecked;
			}
			if (cause instanceof Error error) {
				throw error;
			}
			throw ex;
		}
	}

}
