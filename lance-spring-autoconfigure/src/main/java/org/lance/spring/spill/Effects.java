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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import org.lance.spring.stream.EngineThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a transition causes outside the spill: stages that complete, memory and files that
 * are given back. Collected under the lock, run after it.
 * <p>
 * Effects that are caused while others run on the same thread run after them, not inside
 * them: a reader whose continuation writes the next batch does not grow the stack.
 */
final class Effects {

	private static final Logger logger = LoggerFactory.getLogger(Effects.class);

	private static final ThreadLocal<Deque<Runnable>> RUNNING = new ThreadLocal<>();

	private final List<Runnable> effects = new ArrayList<>(2);

	void add(Runnable effect) {
		this.effects.add(effect);
	}

	void run() {
		if (this.effects.isEmpty()) {
			return;
		}
		Deque<Runnable> outer = RUNNING.get();
		if (outer != null) {
			outer.addAll(this.effects);
			return;
		}
		Deque<Runnable> queue = new ArrayDeque<>(this.effects);
		RUNNING.set(queue);
		try {
			EngineThreads.run(() -> runAll(queue));
		}
		finally {
			RUNNING.remove();
		}
	}

	private static void runAll(Deque<Runnable> queue) {
		for (Runnable effect = queue.poll(); effect != null; effect = queue.poll()) {
			try {
				effect.run();
			}
			catch (Throwable ex) {
				// The others must still run: each may be somebody's only news.
				logger.error("An effect of a spill failed", ex);
			}
		}
	}

}
