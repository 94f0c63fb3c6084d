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
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The private directory of one manager, made on first use.
 * <p>
 * May be used from any thread.
 */
final class SpillDirectory implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(SpillDirectory.class);

	private final Supplier<Path> base;

	private final SpillFileSystem fileSystem;

	private @Nullable Path path;

	SpillDirectory(Supplier<Path> base, SpillFileSystem fileSystem) {
		this.base = base;
		this.fileSystem = fileSystem;
	}

	Path base() {
		return this.base.get();
	}

	synchronized Path path() throws IOException {
		if (this.path == null) {
			Path made = base().resolve("lance-spill-" + UUID.randomUUID());
			this.fileSystem.createDirectories(made);
			this.path = made;
		}
		return this.path;
	}

	synchronized Path renewed() throws IOException {
		this.path = null;
		return path();
	}

	@Override
	public synchronized void close() {
		if (this.path == null) {
			return;
		}
		try {
			for (Path file : this.fileSystem.list(this.path)) {
				this.fileSystem.delete(file);
			}
			this.fileSystem.delete(this.path);
		}
		catch (NoSuchFileException ex) {
			logger.debug("{} was already removed", this.path);
		}
		catch (IOException ex) {
			logger.warn("The spill directory {} can't be removed: {}", this.path, ex.toString());
		}
		this.path = null;
	}

}
