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

import java.util.stream.Stream;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.task.TaskExecutorMetricsAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * Contexts as an application has them: all of our auto-configurations with those of
 * Spring Boot that they meet.
 */
final class Runners {

	private Runners() {
	}

	static ApplicationContextRunner all() {
		Stream<Class<?>> boot = Stream.of(LifecycleAutoConfiguration.class, TaskExecutionAutoConfiguration.class,
				MetricsAutoConfiguration.class, TaskExecutorMetricsAutoConfiguration.class);
		return new ApplicationContextRunner().withConfiguration(AutoConfigurations
			.of(Stream.concat(boot, ConventionsTests.autoConfigurations().stream()).toArray(Class[]::new)));
	}

}
