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
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files that could not be deleted. They still take disk space, so they keep their
 * reservation until they are gone.
 * <p>
 * May be used from any thread.
 */
final class UndeletedFiles {

	private static final Logger logger = LoggerFactory.getLogger(UndeletedFiles.class);

	private final SpillFileSystem fileSystem;

	private final Map<Path, FileSpace> files = new ConcurrentHashMap<>();

	UndeletedFiles(SpillFileSystem fileSystem) {
		this.fileSystem = fileSystem;
	}

	/**
	 * Deletes a file now, or later if that fails.
	 */
	void delete(Path file, FileSpace space) {
		try {
			deleteNow(file, space);
		}
		catch (IOException ex) {
			logger.warn("The spill file {} can't be deleted; that is tried again with the next file and at the end: {}",
					file, ex.toString());
			this.files.put(file, space);
		}
	}

	/**
	 * Tries again what failed.
	 */
	void retry() {
		for (Path file : this.files.keySet()) {
			FileSpace space = this.files.remove(file);
			if (space != null) {
				retry(file, space);
			}
		}
	}

	private void retry(Path file, FileSpace space) {
		try {
			deleteNow(file, space);
		}
		catch (IOException ex) {
			logger.debug("The spill file {} still can't be deleted", file, ex);
			this.files.put(file, space);
		}
	}

	private void deleteNow(Path file, FileSpace space) throws IOException {
		this.fileSystem.delete(file);
		space.release();
	}

}
