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
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * Where files go: a directory of this process below the one that the property
 * {@value #PROPERTY} names.
 */
final class Directory implements AutoCloseable {

	static final String PROPERTY = "benchmarks.directory";

	private final AtomicInteger files = new AtomicInteger();

	private final Path path;

	Directory() {
		try {
			Path base = Files.createDirectories(Path.of(System.getProperty(PROPERTY, "target/files")));
			this.path = Files.createTempDirectory(base, "run-");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	Path path() {
		return this.path;
	}

	/**
	 * A path at which there is no file.
	 */
	Path newFile() {
		return this.path.resolve("file-" + this.files.incrementAndGet());
	}

	@Override
	public void close() {
		try (Stream<Path> entries = Files.walk(this.path)) {
			for (Path entry : entries.sorted(Comparator.reverseOrder()).toList()) {
				Files.delete(entry);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
