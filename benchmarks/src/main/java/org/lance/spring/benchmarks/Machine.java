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
import java.util.Locale;

import org.openjdk.jmh.util.Version;

/**
 * What the numbers depend on.
 */
final class Machine {

	private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

	private static final Path MEMORY = Path.of("/proc/meminfo");

	private Machine() {
	}

	static String describe() throws IOException {
		try (Directory directory = new Directory()) {
			return """
					- Processor: %s, %d cores for this process
					- Memory: %s
					- System: %s %s, file system %s
					- JDK: %s %s
					- Arrow Java %s, JMH %s, lance-datafusion %s
					- This project at %s
					""".formatted(line(PROCESSORS, "model name"), Runtime.getRuntime().availableProcessors(), memory(),
					System.getProperty("os.name"), System.getProperty("os.version"),
					Files.getFileStore(directory.path()).type(), System.getProperty("java.vm.vendor"),
					System.getProperty("java.vm.version"), property("arrow-version"), Version.getPlainVersion(),
					property("lance-version"), property("revision"));
		}
	}

	private static String property(String name) {
		return System.getProperty("benchmarks." + name, "not known");
	}

	private static String memory() throws IOException {
		long kilobytes = Long.parseLong(line(MEMORY, "MemTotal").replace("kB", "").trim());
		return String.format(Locale.ROOT, "%.0f GiB", kilobytes / 1024.0 / 1024.0);
	}

	private static String line(Path file, String key) throws IOException {
		for (String line : Files.readAllLines(file)) {
			if (line.startsWith(key)) {
				return line.substring(line.indexOf(':') + 1).trim();
			}
		}
		return "unknown";
	}

}
