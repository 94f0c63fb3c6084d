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
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The private directory of one manager, made on first use, and again if somebody removed
 * it.
 * <p>
 * May be used from any thread.
 */
final class SpillDirectory {

	private static final Logger logger = LoggerFactory.getLogger(SpillDirectory.class);

	private final SpillFileSystem fileSystem;

	private final Supplier<Path> base;

	private @Nullable OwnedDirectory current;

	/**
	 * Directories that lost their lock file; their files may be in use.
	 */
	private final List<OwnedDirectory> damaged = new ArrayList<>();

	private boolean closed;

	SpillDirectory(SpillFileSystem fileSystem, Supplier<Path> base) {
		this.fileSystem = fileSystem;
		this.base = base;
	}

	/**
	 * Returns the directory for a new file.
	 */
	synchronized Path path() throws IOException {
		if (this.closed) {
			throw new IllegalStateException("The spill directory was removed by close()");
		}
		OwnedDirectory directory = this.current;
		if (directory != null && !directory.isIntact(this.fileSystem)) {
			logger.warn("Somebody removed the spill directory {} or its lock file. Keep clean-up jobs away from it",
					directory.path());
			this.damaged.add(directory);
			directory = null;
		}
		if (directory == null) {
			directory = OwnedDirectory.create(this.fileSystem, base());
			this.current = directory;
		}
		return directory.path();
	}

	private Path base() throws IOException {
		try {
			return this.base.get();
		}
		catch (RuntimeException ex) {
			throw new IOException("The configured directory can't be determined: " + ex.getMessage(), ex);
		}
	}

	/**
	 * Removes what dead processes left behind. Never throws: a sweep that fails must not
	 * keep this process from working.
	 * @return how many directories were removed
	 */
	int reclaim() {
		try {
			return new OrphanSweep(this.fileSystem, base()).run();
		}
		catch (IOException | RuntimeException ex) {
			logger.warn("Directories of dead processes can't be removed", ex);
			return 0;
		}
	}

	/**
	 * Removes what is left of this process; the directory above stays. Idempotent.
	 */
	synchronized void close() {
		this.closed = true;
		if (this.current != null) {
			this.damaged.add(this.current);
			this.current = null;
		}
		for (OwnedDirectory directory : this.damaged) {
			try {
				directory.remove(this.fileSystem);
			}
			catch (IOException ex) {
				logger.warn("The spill directory {} can't be removed: {}", directory.path(), ex.toString());
			}
		}
		this.damaged.clear();
	}

}
