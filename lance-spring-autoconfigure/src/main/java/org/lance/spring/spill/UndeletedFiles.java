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
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;
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

	private final Set<Unwanted> files = ConcurrentHashMap.newKeySet();

	UndeletedFiles(SpillFileSystem fileSystem) {
		this.fileSystem = fileSystem;
	}

	/**
	 * Deletes a file now, or later if that fails.
	 * @param key its identity: what somebody else put in its place is left alone
	 */
	void delete(Path file, @Nullable Object key, FileSpace space) {
		Unwanted unwanted = new Unwanted(file, key, space);
		try {
			deleteNow(unwanted);
		}
		catch (IOException ex) {
			logger.warn("The spill file {} can't be deleted; that is tried again with the next file and at the end: {}",
					file, ex.toString());
			this.files.add(unwanted);
		}
	}

	/**
	 * Tries again what failed.
	 */
	void retry() {
		for (Unwanted unwanted : this.files) {
			if (this.files.remove(unwanted)) {
				retry(unwanted);
			}
		}
	}

	private void retry(Unwanted unwanted) {
		try {
			deleteNow(unwanted);
		}
		catch (IOException ex) {
			logger.debug("The spill file {} still can't be deleted", unwanted.file, ex);
			this.files.add(unwanted);
		}
	}

	private void deleteNow(Unwanted unwanted) throws IOException {
		try {
			if (Objects.equals(this.fileSystem.state(unwanted.file).key(), unwanted.key)) {
				this.fileSystem.delete(unwanted.file);
			}
		}
		catch (NoSuchFileException ex) {
			// Somebody else removed it.
		}
		unwanted.space.release();
	}

	/**
	 * A file that is to go. By identity: each has its own space.
	 */
	private record Unwanted(Path file, @Nullable Object key, FileSpace space) {

	}

}
