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

import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Refuses every call that comes from one thread, and remembers it: a thread that must not
 * be blocked.
 */
final class GuardedFileSystem {

	/**
	 * What that thread tried to do.
	 */
	final Queue<String> refused = new ConcurrentLinkedQueue<>();

	/**
	 * How many calls came from other threads.
	 */
	final AtomicInteger allowed = new AtomicInteger();

	private volatile Thread guarded;

	void guard(Thread thread) {
		this.guarded = thread;
	}

	SpillFileSystem fileSystem() {
		FaultyFileSystem fileSystem = new FaultyFileSystem();
		fileSystem.beforeAnything(this::check);
		return fileSystem;
	}

	private void check(FaultyFileSystem.Operation operation) throws IOException {
		if (Thread.currentThread() == this.guarded) {
			this.refused.add(operation.name());
			throw new IOException("A file call on a thread that must not block: " + operation);
		}
		this.allowed.incrementAndGet();
	}

}
