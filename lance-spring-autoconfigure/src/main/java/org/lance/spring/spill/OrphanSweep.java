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
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the directories that dead processes left behind: those of our own name pattern
 * whose lock is free. A directory without a lock file stays, as nobody can tell whether
 * its owner lives.
 */
final class OrphanSweep {

	private static final Logger logger = LoggerFactory.getLogger(OrphanSweep.class);

	private final SpillFileSystem fileSystem;

	private final Path base;

	OrphanSweep(SpillFileSystem fileSystem, Path base) {
		this.fileSystem = fileSystem;
		this.base = base;
	}

	/**
	 * Sweeps. What can't be removed is logged and left.
	 * @return how many directories were removed
	 */
	int run() {
		int removed = 0;
		for (Path path : entries()) {
			DirectoryName name = DirectoryName.ofLock(path);
			if (name != null && !name.isOfThisJvm() && remove(name)) {
				removed++;
			}
		}
		return removed;
	}

	private List<Path> entries() {
		try {
			return this.fileSystem.list(this.base);
		}
		catch (NoSuchFileException | NotDirectoryException ex) {
			// Made on first use; if it can't be, that will tell.
		}
		catch (IOException ex) {
			logger.warn("{} can't be searched for directories of dead processes: {}", this.base, ex.toString());
		}
		return List.of();
	}

	private boolean remove(DirectoryName name) {
		Path path = name.directory(this.base);
		try {
			OwnedDirectory orphan = take(name);
			if (orphan != null && orphan.remove(this.fileSystem)) {
				logger.info("Removed the spill directory {} of a dead process", path);
				return true;
			}
		}
		catch (IOException ex) {
			logger.warn("The spill directory {} of a dead process can't be removed: {}", path, ex.toString());
		}
		return false;
	}

	private @Nullable OwnedDirectory take(DirectoryName name) throws IOException {
		try {
			return OwnedDirectory.take(this.fileSystem, this.base, name);
		}
		catch (NoSuchFileException ex) {
			// Its owner, or another sweep, was faster.
			return null;
		}
	}

}
