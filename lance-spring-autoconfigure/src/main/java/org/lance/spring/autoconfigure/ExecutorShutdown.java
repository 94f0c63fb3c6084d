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

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.function.BooleanSupplier;

import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/**
 * Tells of executors of any kind whether they were shut down.
 */
final class ExecutorShutdown {

	private ExecutorShutdown() {
	}

	/**
	 * Returns what tells whether an executor takes no task any more. One that nobody can
	 * shut down always takes them.
	 */
	static BooleanSupplier of(Executor executor) {
		if (executor instanceof ThreadPoolTaskExecutor pool) {
			return () -> pool.getThreadPoolExecutor().isShutdown();
		}
		if (executor instanceof ExecutorService service) {
			return service::isShutdown;
		}
		return () -> false;
	}

}
