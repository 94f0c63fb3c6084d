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

import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

import org.lance.spring.stream.PatientExecutor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The spill executor as one spill or manager uses it: a task either runs there, or its
 * replacement runs elsewhere because the executor was shut down. None is lost, also not
 * those that an executor throws away with its queue.
 */
final class SpillExecutor {

	private static final Logger logger = LoggerFactory.getLogger(SpillExecutor.class);

	private final PatientExecutor executor;

	SpillExecutor(Executor executor, BooleanSupplier shutdown) {
		this.executor = new PatientExecutor(executor, shutdown);
	}

	/**
	 * Runs a task on the executor.
	 * @param task what to run
	 * @param rejected runs instead, on some thread of the engine's or the caller's, once
	 * the executor is shut down or fails to take the task
	 */
	void execute(Runnable task, Runnable rejected) {
		this.executor.execute(() -> run(task), (cause) -> {
			if (cause != null) {
				logger.warn("The spill executor failed to take a task", cause);
			}
			run(rejected);
		});
	}

	/**
	 * Runs clean-up on the executor, or elsewhere once the executor is shut down.
	 */
	void cleanUp(Runnable task) {
		execute(task, task);
	}

	private static void run(Runnable task) {
		try {
			task.run();
		}
		catch (Throwable ex) {
			// A thread of the pool must not die of it; tasks report by themselves.
			logger.error("A task of a spill failed", ex);
		}
	}

	/**
	 * Runs, on this thread, the replacement of every task that a shut-down executor may
	 * have thrown away.
	 */
	void settle() {
		this.executor.refuseAll();
	}

}
