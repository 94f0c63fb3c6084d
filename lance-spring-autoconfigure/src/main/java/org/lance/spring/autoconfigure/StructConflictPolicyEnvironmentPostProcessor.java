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

import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * Lets Arrow read structs with two children of the same name, which its default refuses
 * or, worse, merges. Arrow looks at the system property once, when its struct vectors are
 * loaded, so it is set before any bean exists. A value that the user gave, anywhere in
 * the environment, is kept.
 */
class StructConflictPolicyEnvironmentPostProcessor implements EnvironmentPostProcessor {

	static final String PROPERTY = "arrow.struct.conflict.policy";

	@Override
	public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
		if (System.getProperty(PROPERTY) == null) {
			System.setProperty(PROPERTY, environment.getProperty(PROPERTY, "CONFLICT_APPEND"));
		}
	}

}
