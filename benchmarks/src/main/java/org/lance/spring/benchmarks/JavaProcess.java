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

package org.lance.spring.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs programs that print one line.
 */
final class JavaProcess {

	private static final int ARENA_JDK = 24;

	private JavaProcess() {
	}

	/**
	 * The arguments that the README asks for, and nothing else.
	 */
	static List<String> jvmArguments(String heap) {
		List<String> arguments = new ArrayList<>();
		arguments.add("-Xmx" + heap);
		arguments.add("--add-opens=java.base/java.nio=ALL-UNNAMED");
		if (Runtime.version().feature() >= ARENA_JDK) {
			arguments.add("--sun-misc-unsafe-memory-access=allow");
			arguments.add("--enable-native-access=ALL-UNNAMED");
		}
		arguments.add("-D%s=%s".formatted(Directory.PROPERTY, System.getProperty(Directory.PROPERTY)));
		return arguments;
	}

	/**
	 * The arguments for work that is repeated in a heap as it is in a service that runs
	 * for long: all of it was used before, so that no new page has to be brought in.
	 */
	static List<String> steadyJvmArguments(String heap) {
		List<String> arguments = jvmArguments(heap);
		arguments.add("-Xms" + heap);
		arguments.add("-XX:+AlwaysPreTouch");
		return arguments;
	}

	/**
	 * The command that starts a class of this module in a JVM of its own.
	 */
	static List<String> command(List<String> jvmArguments, Class<?> main, String... arguments) {
		List<String> command = new ArrayList<>();
		command.add(ProcessHandle.current().info().command().orElse("java"));
		command.addAll(jvmArguments);
		command.add("-cp");
		command.add(System.getProperty("java.class.path"));
		command.add(main.getName());
		command.addAll(List.of(arguments));
		return command;
	}

	/**
	 * Runs a command.
	 * @return the last line that it printed
	 */
	static String run(List<String> command) throws IOException, InterruptedException {
		Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
		int status = process.waitFor();
		if (status != 0) {
			throw new IOException("It ended with status %d: %s".formatted(status, output));
		}
		return output.substring(output.lastIndexOf('\n') + 1);
	}

}
