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
import java.util.ArrayList;
import java.util.List;

/**
 * The replay spill of Lance's Rust library.
 *
 * @param name the name
 * @param arguments what it does
 */
record LanceContender(String name, List<String> arguments) implements Contender {

	private static final String PROPERTY = "benchmarks.lance";

	/**
	 * Whether the program could be built.
	 */
	static boolean isAvailable() {
		return System.getProperty(PROPERTY) != null;
	}

	@Override
	public List<Double> run() throws IOException, InterruptedException {
		return Json.numbers(JavaProcess.run(command(this.arguments)), "nanos");
	}

	static List<String> command(List<String> arguments) {
		try (Directory directory = new Directory()) {
			List<String> command = new ArrayList<>();
			command.add(System.getProperty(PROPERTY));
			command.addAll(arguments);
			command.add(directory.path().getParent().toString());
			return command;
		}
	}

}
