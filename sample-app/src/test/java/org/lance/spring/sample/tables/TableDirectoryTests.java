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

package org.lance.spring.sample.tables;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.lance.spring.sample.SampleProperties;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link TableDirectory}.
 */
class TableDirectoryTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withBean(TableDirectory.class)
		.withUserConfiguration(Properties.class);

	@Test
	void whenTheClassPathHasADirectoryOfThatNameThenTablesAreInThatOfTheWorkingDirectory() {
		assertThat(new ClassPathResource("data").exists()).isTrue();
		this.runner.run((context) -> assertThat(context.getBean(TableDirectory.class).uri(new TableName("flights")))
			.isEqualTo(Path.of("data/flights.lance").toAbsolutePath().toString()));
	}

	@Test
	void whenADirectoryIsSetThenTablesAreThere() {
		this.runner.withPropertyValues("sample.data-directory=/some/where")
			.run((context) -> assertThat(context.getBean(TableDirectory.class).uri(new TableName("flights")))
				.isEqualTo("/some/where/flights.lance"));
	}

	@EnableConfigurationProperties(SampleProperties.class)
	static class Properties {

	}

}
