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

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Watches an object that somebody has to close: when it becomes unreachable instead, what
 * it held up is put right, once.
 */
final class LossWatch {

	private static final Cleaner cleaner = Cleaner.create();

	private final AtomicBoolean ended = new AtomicBoolean();

	private final Cleaner.Cleanable cleanable;

	/**
	 * Watches an object.
	 * @param lost runs on the executor when the object is lost; must not refer to it
	 */
	LossWatch(Object watched, SpillExecutor executor, Runnable lost) {
		AtomicBoolean once = this.ended;
		this.cleanable = cleaner.register(watched, () -> {
			if (once.compareAndSet(false, true)) {
				// Not on the cleaner's thread: continuations of users may follow.
				executor.cleanUp(lost);
			}
		});
	}

	/**
	 * The object was closed properly.
	 * @return whether this is the first time
	 */
	boolean end() {
		boolean first = this.ended.compareAndSet(false, true);
		this.cleanable.clean();
		return first;
	}

}
