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

import java.io.IOException;
import java.util.Iterator;

import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.RecordBatch;

/**
 * Gives the schema of a source first and then its batches, so that one background stream
 * with one slot does both.
 */
final class OpeningIterator implements Iterator<OpeningIterator.Item>, AutoCloseable {

	private final OpenableBatches batches;

	private boolean opened;

	OpeningIterator(OpenableBatches batches) {
		this.batches = batches;
	}

	@Override
	public boolean hasNext() {
		return !this.opened || this.batches.hasNext();
	}

	@Override
	public Item next() {
		if (this.opened) {
			return new Item(null, this.batches.next());
		}
		this.opened = true;
		try {
			return new Item(this.batches.open(), null);
		}
		catch (IOException ex) {
			throw sneaky(ex);
		}
	}

	@Override
	public void close() throws Exception {
		this.batches.close();
	}

	/**
	 * An iterator can't declare it, yet the caller is to get the very exception.
	 */
	@SuppressWarnings("unchecked")
	private static <E extends Throwable> RuntimeException sneaky(Throwable failure) throws E {
		throw (E) failure;
	}

	/**
	 * The schema or a batch.
	 *
	 * @param schema the schema, in the first item
	 * @param batch the batch, in all others
	 */
	record Item(@Nullable IpcSchema schema, @Nullable RecordBatch batch) implements AutoCloseable {

		@Override
		public void close() {
			if (this.batch != null) {
				this.batch.close();
			}
		}

	}

}
