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

package org.lance.spring.spill;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs test code in a JVM of its own, as production does: without the debug allocator.
 */
public final class ChildJvm {

	private ChildJvm() {
	}

	/**
	 * Runs a program; called by the child.
	 */
	public static void main(String[] arguments) throws Exception {
		Program program = (Program) Class.forName(arguments[0]).getDeclaredConstructor().newInstance();
		program.run(List.of(arguments).subList(1, arguments.length));
	}

	static Process start(Class<? extends Program> program, String... arguments) throws IOException {
		return start(List.of(), program, arguments);
	}

	private static Process start(List<String> options, Class<? extends Program> program, String... arguments)
			throws IOException {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "--add-opens=java.base/java.nio=ALL-UNNAMED"));
		command.addAll(options);
		command
			.addAll(List.of("-cp", System.getProperty("java.class.path"), ChildJvm.class.getName(), program.getName()));
		command.addAll(List.of(arguments));
		return new ProcessBuilder(command).redirectErrorStream(true).start();
	}

	/**
	 * Runs it to its end.
	 * @return what it printed
	 */
	static String run(Class<? extends Program> program, String... arguments) throws IOException, InterruptedException {
		return run(List.of(), program, arguments);
	}

	/**
	 * Runs it to its end in a JVM with more options.
	 * @return what it printed
	 */
	static String run(List<String> options, Class<? extends Program> program, String... arguments)
			throws IOException, InterruptedException {
		Process process = start(options, program, arguments);
		process.getOutputStream().close();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		if (process.waitFor() != 0) {
			throw new IllegalStateException("The child failed:\n" + output);
		}
		return output;
	}

	/**
	 * What runs in the child.
	 */
	interface Program {

		void run(List<String> arguments) throws Exception;

	}

}
