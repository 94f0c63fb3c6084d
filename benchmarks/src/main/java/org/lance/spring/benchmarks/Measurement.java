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
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * A program that prints numbers other than times, run once.
 *
 * @param name the name, to run it alone
 * @param command the program, which prints a line of JSON
 */
record Measurement(String name, List<String> command) {

	void run(Path lines) throws IOException, InterruptedException {
		String result;
		try {
			result = JavaProcess.run(this.command);
		}
		catch (IOException ex) {
			// A limit that is not kept is a result as well.
			result = "{\"failed\":1}";
			System.err.println(this.name + " failed: " + ex.getMessage());
		}
		System.err.println(this.name + ": " + result);
		Files.writeString(lines, "{\"measurement\":\"%s\",%s%n".formatted(this.name, result.substring(1)),
				StandardOpenOption.CREATE, StandardOpenOption.APPEND);
	}

}
