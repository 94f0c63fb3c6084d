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

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.autoconfigure.ArrowMemoryUnavailableException.Reason;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.diagnostics.FailureAnalysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests for {@link ArrowMemory} and {@link ArrowMemoryUnavailableFailureAnalyzer}.
 */
class ArrowMemoryTests {

	@Test
	void whenThePackageIsOpenThenTheCheckPasses() {
		assertThatNoException().isThrownBy(() -> ArrowMemory.checkAccess(BufferAllocator.class.getModule()));
	}

	@Test
	void whenThePackageIsNotOpenThenTheMessageNamesTheFlagForThatModule() {
		Module other = java.sql.Connection.class.getModule();
		assertThatExceptionOfType(ArrowMemoryUnavailableException.class)
			.isThrownBy(() -> ArrowMemory.checkAccess(other))
			.withMessageContaining("--add-opens=java.base/java.nio=java.sql")
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(Reason.PACKAGE_NOT_OPEN));
	}

	@ParameterizedTest
	@EnumSource
	void everyReasonIsExplainedWithAnAction(Reason reason) {
		ArrowMemoryUnavailableException failure = new ArrowMemoryUnavailableException(reason, "It failed", null);
		FailureAnalysis analysis = new ArrowMemoryUnavailableFailureAnalyzer()
			.analyze(new IllegalStateException("Bean creation", failure));
		assertThat(analysis).isNotNull();
		assertThat(analysis.getDescription()).endsWith(".");
		assertThat(analysis.getAction()).isNotEmpty();
		assertThat(analysis.getCause()).isSameAs(failure);
	}

	@Test
	void whenTheJvmLacksTheFlagThenTheStartIsExplainedWithoutAStackTrace() throws Exception {
		String output = start();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("--add-opens=java.base/java.nio=ALL-UNNAMED")
			.contains("Add-Opens: java.base/java.nio")
			.doesNotContain("\tat ");
	}

	@Test
	void whenTheJvmHasTheFlagThenTheApplicationStarts() throws Exception {
		assertThat(start("--add-opens=java.base/java.nio=ALL-UNNAMED")).contains("Started as expected");
	}

	private static String start(String... flags) throws IOException, InterruptedException {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(Arrays.asList(flags));
		command.addAll(List.of("-cp", System.getProperty("java.class.path"), Application.class.getName()));
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
		builder.environment().keySet().removeAll(List.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"));
		Process process = builder.start();
		try {
			String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
			return output;
		}
		finally {
			process.destroyForcibly();
		}
	}

	/**
	 * An application of its own JVM.
	 */
	@ImportAutoConfiguration(LanceMemoryAutoConfiguration.class)
	public static class Application {

		public static void main(String[] args) {
			try {
				new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE).run(args).close();
				System.out.println("Started as expected");
			}
			catch (RuntimeException ex) {
				// Reported by Spring Boot.
				System.exit(1);
			}
		}

	}

}
