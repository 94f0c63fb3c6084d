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
import java.nio.file.Path;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says at the start what would otherwise be noticed by the first spill that leaves
 * memory, or never. Only says it: an application that never spills needs no directory.
 */
final class DirectoryCheck {

	private static final Logger logger = LoggerFactory.getLogger(DirectoryCheck.class);

	private static final Set<String> MEMORY = Set.of("tmpfs", "ramfs");

	private final SpillFileSystem fileSystem;

	private final Path directory;

	DirectoryCheck(SpillFileSystem fileSystem, Path directory) {
		this.fileSystem = fileSystem;
		this.directory = directory;
	}

	void run() throws IOException {
		Path existing = existing();
		if (existing == null) {
			return;
		}
		if (!this.fileSystem.isWritableDirectory(existing)) {
			logger.warn(
					"The spill directory {} can't be used: {} is no directory that this process may write to. "
							+ "Repair that or set lance.spill.directories, or spills that don't fit in memory may fail",
					this.directory, existing);
			return;
		}
		String type = this.fileSystem.volume(existing).type();
		if (MEMORY.contains(type)) {
			logger.warn("The spill directory {} is on a file system in memory ({}), so spills that leave memory "
					+ "save none. Set lance.spill.directories to a directory on a disk", this.directory, type);
		}
	}

	/**
	 * The directory, or what it will be made in.
	 */
	private @Nullable Path existing() {
		Path path = this.directory.toAbsolutePath();
		while (path != null && !exists(path)) {
			path = path.getParent();
		}
		return path;
	}

	private boolean exists(Path path) {
		try {
			this.fileSystem.state(path);
			return true;
		}
		catch (IOException ex) {
			// Also if a file is above it: then that is found.
			return false;
		}
	}

}
