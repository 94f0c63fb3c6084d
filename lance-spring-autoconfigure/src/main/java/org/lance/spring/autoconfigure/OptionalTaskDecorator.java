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

package org.lance.spring.autoconfigure;

import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.TaskDecorator;

/**
 * Lets a task run undecorated if its decorator fails or drops it. Decorators are written
 * for tasks of requests, and some fail without one, but steps of streams and clean-up are
 * mostly handed over by threads of the engine. A task that does not run would leave its
 * stream without an end, its file in place and its memory taken.
 */
final class OptionalTaskDecorator implements TaskDecorator {

	private static final Logger logger = LoggerFactory.getLogger(OptionalTaskDecorator.class);

	private final TaskDecorator decorator;

	private final AtomicBoolean warned = new AtomicBoolean();

	OptionalTaskDecorator(TaskDecorator decorator) {
		this.decorator = decorator;
	}

	@Override
	public Runnable decorate(Runnable task) {
		OneRun run = new OneRun(task);
		Runnable decorated;
		try {
			decorated = this.decorator.decorate(run);
		}
		catch (Throwable ex) {
			warn("failed", ex);
			return task;
		}
		return () -> run(decorated, run);
	}

	private void run(Runnable decorated, OneRun task) {
		try {
			decorated.run();
		}
		catch (Throwable ex) {
			if (task.failure == ex) {
				throw ex;
			}
			warn("failed", ex);
		}
		if (!task.begun.get()) {
			warn("did not run a task", null);
			task.run();
		}
	}

	/**
	 * Once: it may happen many times a second.
	 */
	private void warn(String what, @Nullable Throwable failure) {
		if (this.warned.compareAndSet(false, true)) {
			logger.warn("A task decorator {}; tasks of the engine run without it then. This is logged once", what,
					failure);
		}
	}

	/**
	 * A task that runs once, and remembers how it failed.
	 */
	private static final class OneRun implements Runnable {

		private final Runnable task;

		private final AtomicBoolean begun = new AtomicBoolean();

		private volatile @Nullable Throwable failure;

		OneRun(Runnable task) {
			this.task = task;
		}

		@Override
		public void run() {
			if (!this.begun.compareAndSet(false, true)) {
				return;
			}
			try {
				this.task.run();
			}
			catch (Throwable ex) {
				this.failure = ex;
				throw ex;
			}
		}

	}

}
