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

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reference of one handle; must not refer to the handle itself.
 */
final class BatchReference implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(RecordBatch.class);

	private static final AtomicLong lost = new AtomicLong();

	private final SealedBatch sealed;

	private final AtomicBoolean closed = new AtomicBoolean();

	BatchReference(SealedBatch sealed) {
		this.sealed = sealed;
	}

	/**
	 * How many handles were lost, in this JVM.
	 */
	static long lost() {
		return lost.get();
	}

	boolean isClosed() {
		return this.closed.get();
	}

	boolean close() {
		boolean first = this.closed.compareAndSet(false, true);
		if (first) {
			this.sealed.release();
		}
		return first;
	}

	/**
	 * Runs in the cleaner's thread, or in {@link RecordBatch#close()} to unregister.
	 */
	@Override
	public void run() {
		if (close()) {
			long count = lost.incrementAndGet();
			logger.warn(
					"A record batch of {} rows ({} bytes) was never closed and is given back by the garbage "
							+ "collector; {} so far. Close every batch that you are given",
					this.sealed.buffers.body().getLength(), this.sealed.memorySize, count);
		}
	}

}
