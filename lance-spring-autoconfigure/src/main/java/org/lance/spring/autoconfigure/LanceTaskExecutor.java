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

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.TaskDecorator;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/**
 * An executor of the engine: it runs each task once, whatever the task decorators of the
 * application do, and comes to rest before the beans of the application are destroyed,
 * which its tasks may use.
 */
class LanceTaskExecutor extends ThreadPoolTaskExecutor {

	private static final Logger logger = LoggerFactory.getLogger(LanceTaskExecutor.class);

	private final Object lock = new Object();

	private final long restMillis;

	private int running;

	private @Nullable CompletableFuture<Void> rest;

	/**
	 * Creates an executor.
	 * @param restMillis how long the tasks that run when the application is stopped may
	 * take to end
	 */
	LanceTaskExecutor(long restMillis) {
		this.restMillis = restMillis;
	}

	@Override
	public void setTaskDecorator(TaskDecorator taskDecorator) {
		super.setTaskDecorator(new OptionalTaskDecorator(taskDecorator));
	}

	@Override
	protected void beforeExecute(Thread thread, Runnable task) {
		super.beforeExecute(thread, task);
		synchronized (this.lock) {
			this.running++;
		}
	}

	@Override
	protected void afterExecute(Runnable task, @Nullable Throwable failure) {
		super.afterExecute(task, failure);
		CompletableFuture<Void> reached = null;
		synchronized (this.lock) {
			if (--this.running == 0) {
				reached = this.rest;
			}
		}
		if (reached != null) {
			reached.complete(null);
		}
	}

	/**
	 * Still takes and runs tasks when it has come to rest: giving spills back needs it
	 * later. An executor that waits for its tasks would do so only when it is destroyed,
	 * which may be after the beans that they use.
	 * <p>
	 * Spring's own way to stop is not used: it lets further tasks wait, each on a thread,
	 * until the executor is started again. After a start of the application that failed
	 * it never is, and the threads would keep the process alive.
	 */
	@Override
	public void stop(Runnable callback) {
		atRest().orTimeout(this.restMillis, TimeUnit.MILLISECONDS).whenComplete((done, failure) -> {
			if (failure != null) {
				logger.warn("A task of '{}' still runs after {} ms, and the shutdown goes on without it",
						getThreadNamePrefix(), this.restMillis);
				// It was waited for.
				setAwaitTerminationMillis(LanceExecutorAutoConfiguration.CLEANUP_MILLIS);
			}
			callback.run();
		});
	}

	@Override
	public void stop() {
		// As above: nothing is made to wait.
	}

	private CompletableFuture<Void> atRest() {
		CompletableFuture<Void> reached = new CompletableFuture<>();
		synchronized (this.lock) {
			if (this.running > 0) {
				this.rest = reached;
				return reached;
			}
		}
		reached.complete(null);
		return reached;
	}

}
