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

import java.util.concurrent.CompletableFuture;

/**
 * Knows which threads belong to the engine while they run a step. Waiting on such a
 * thread could wait for itself, so every blocking view asks here first.
 * <p>
 * Public for the other packages of this library only; may change in any release.
 *
 * @since 0.1.0
 */
public final class EngineThreads {

	private static final ThreadLocal<Boolean> CURRENT = new ThreadLocal<>();

	private EngineThreads() {
	}

	/**
	 * Runs {@code task} with the current thread marked as one of the engine.
	 * @param task what to run
	 */
	public static void run(Runnable task) {
		Boolean before = CURRENT.get();
		CURRENT.set(Boolean.TRUE);
		try {
			task.run();
		}
		finally {
			if (before == null) {
				CURRENT.remove();
			}
			else {
				CURRENT.set(before);
			}
		}
	}

	/**
	 * Makes a future that refuses to be waited for on a thread of the engine, while it is
	 * not complete. So do the stages that are derived from it.
	 * @param <T> the type of the result
	 * @return the future
	 */
	public static <T> CompletableFuture<T> newFuture() {
		return new EngineFuture<>();
	}

	/**
	 * Tells whether the current thread runs a step of the engine.
	 * @return whether it does
	 */
	public static boolean isCurrent() {
		return CURRENT.get() != null;
	}

	/**
	 * Refuses to wait on a thread of the engine.
	 * @throws IllegalStateException if the current thread is one of the engine
	 */
	public static void checkMayBlock() {
		if (isCurrent()) {
			throw new IllegalStateException(
					("Thread '%s' belongs to the engine and must not wait for a stream: it could "
							+ "wait for itself. Chain to the stage instead, or read the stream on a thread of your own")
						.formatted(Thread.currentThread().getName()));
		}
	}

}
