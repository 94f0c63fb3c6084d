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

import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link StructConflictPolicyEnvironmentPostProcessor}.
 */
class StructConflictPolicyEnvironmentPostProcessorTests {

	private static final String PROPERTY = "arrow.struct.conflict.policy";

	private String before;

	@BeforeEach
	void clear() {
		this.before = System.clearProperty(PROPERTY);
	}

	@AfterEach
	void restore() {
		if (this.before != null) {
			System.setProperty(PROPERTY, this.before);
		}
		else {
			System.clearProperty(PROPERTY);
		}
	}

	@Test
	void whenAnApplicationStartsThenDuplicateChildrenOfStructsAreKept() {
		new SpringApplicationBuilder(Object.class).web(WebApplicationType.NONE).run().close();
		assertThat(System.getProperty(PROPERTY)).isEqualTo("CONFLICT_APPEND");
	}

	@Test
	void whenTheSystemPropertyIsSetThenItIsKept() {
		System.setProperty(PROPERTY, "CONFLICT_ERROR");
		process(Map.of(PROPERTY, "CONFLICT_REPLACE"));
		assertThat(System.getProperty(PROPERTY)).isEqualTo("CONFLICT_ERROR");
	}

	@Test
	void whenTheEnvironmentHasAValueThenArrowGetsIt() {
		process(Map.of(PROPERTY, "CONFLICT_REPLACE"));
		assertThat(System.getProperty(PROPERTY)).isEqualTo("CONFLICT_REPLACE");
	}

	private static void process(Map<String, Object> properties) {
		StandardEnvironment environment = new StandardEnvironment();
		environment.getPropertySources().addLast(new MapPropertySource("test", properties));
		new StructConflictPolicyEnvironmentPostProcessor().postProcessEnvironment(environment, new SpringApplication());
	}

}
