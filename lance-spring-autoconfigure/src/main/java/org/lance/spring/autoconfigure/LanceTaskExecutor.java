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

import org.springframework.core.task.TaskDecorator;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/**
 * An executor of the engine: it runs each task once, whatever the task decorators of the
 * application do.
 */
class LanceTaskExecutor extends ThreadPoolTaskExecutor {

	@Override
	public void setTaskDecorator(TaskDecorator taskDecorator) {
		super.setTaskDecorator(new OptionalTaskDecorator(taskDecorator));
	}

}
