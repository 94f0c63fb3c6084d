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

package org.lance.spring.dataset;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of {@link LanceLibrary}: every reason why it does not load names a way out.
 */
class LanceLibraryTests {

	@TempDir
	private Path directory;

	@ParameterizedTest
	@CsvSource({ "Linux, amd64", "Linux, x86_64", "Linux, aarch64", "Mac OS X, aarch64" })
	void whenPlatformIsSupportedThenTempDirectoryIsNamed(String os, String arch) {
		assertThat(LanceLibrary.explain(os, arch, "/tmp/jvm", new UnsatisfiedLinkError("failed to map segment")))
			.contains("failed to map segment", "/tmp/jvm", "java.io.tmpdir", "noexec", "glibc");
	}

	@ParameterizedTest
	@CsvSource({ "Windows 11, amd64", "Mac OS X, x86_64", "Linux, ppc64le" })
	void whenPlatformIsNotSupportedThenThatIsSaid(String os, String arch) {
		assertThat(LanceLibrary.explain(os, arch, "/tmp/jvm", new IllegalStateException("no resource")))
			.contains(os, arch, "macOS (arm64)")
			.doesNotContain("noexec");
	}

	@Test
	void whenTempDirectoryIsMissingThenEveryCallSaysSo() throws Exception {
		String missing = this.directory.resolve("missing").toString();
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"--add-opens=java.base/java.nio=ALL-UNNAMED", "-Djava.io.tmpdir=" + missing, "-cp",
				System.getProperty("java.class.path"), LibraryProbe.class.getName(), this.directory.toString())
			.redirectErrorStream(true)
			.start();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
		assertThat(output).contains("first: LanceUnavailableException", "second: LanceUnavailableException",
				"write: LanceUnavailableException", missing);
	}

}
