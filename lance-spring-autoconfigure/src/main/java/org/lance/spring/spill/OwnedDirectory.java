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
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * A private directory of which this process holds the lock: as long as it does, no other
 * process removes it.
 * <p>
 * The order is what makes it safe. Who makes one: lock file, lock, look whether the lock
 * file is still there, directory. Who removes one: lock, look, directory, lock file,
 * unlock.
 *
 * @param path the directory
 * @param lockFile the lock file beside it
 * @param lock the open lock file; the lock ends when it is closed
 */
record OwnedDirectory(Path path, Path lockFile, SpillFileSystem.SpillChannel lock) {

	private static final int MAX_ATTEMPTS = 10;

	/**
	 * The ending of spill files; nothing else is ever deleted in a directory.
	 */
	static final String FILE_SUFFIX = ".arrows";

	/**
	 * Makes a directory.
	 * @param base where; made if it is missing
	 */
	static OwnedDirectory create(SpillFileSystem fileSystem, Path base) throws IOException {
		for (int attempt = 1;; attempt++) {
			DirectoryName name = DirectoryName.next();
			try {
				fileSystem.createDirectories(base);
				OwnedDirectory directory = lockNew(fileSystem, name.directory(base), name.lockFile(base));
				if (directory != null) {
					return directory.make(fileSystem);
				}
				if (attempt == MAX_ATTEMPTS) {
					throw new IOException("Another process takes every new lock file for an orphan's");
				}
			}
			catch (NoSuchFileException ex) {
				// Somebody removed the base directory in between.
				if (attempt == MAX_ATTEMPTS) {
					throw ex;
				}
			}
		}
	}

	private static @Nullable OwnedDirectory lockNew(SpillFileSystem fileSystem, Path path, Path lockFile)
			throws IOException {
		SpillFileSystem.SpillChannel channel = fileSystem.create(lockFile);
		try {
			return lock(fileSystem, path, lockFile, channel);
		}
		catch (Throwable ex) {
			fileSystem.delete(lockFile);
			throw ex;
		}
	}

	private OwnedDirectory make(SpillFileSystem fileSystem) throws IOException {
		try {
			// Must not exist: where everybody may write, somebody could have made it.
			fileSystem.createDirectory(this.path);
			return this;
		}
		catch (Throwable ex) {
			try (this.lock) {
				fileSystem.delete(this.lockFile);
			}
			throw ex;
		}
	}

	/**
	 * Takes the directory of another process if that is dead.
	 * @return the directory, or {@code null} if somebody has its lock
	 */
	static @Nullable OwnedDirectory take(SpillFileSystem fileSystem, Path base, DirectoryName name) throws IOException {
		return lock(fileSystem, name.directory(base), name.lockFile(base), fileSystem.open(name.lockFile(base)));
	}

	private static @Nullable OwnedDirectory lock(SpillFileSystem fileSystem, Path path, Path lockFile,
			SpillFileSystem.SpillChannel channel) throws IOException {
		boolean locked = false;
		try {
			// Whoever had the lock before may have deleted the file.
			locked = channel.tryLock() && Objects.equals(fileSystem.state(lockFile).key(), channel.key());
		}
		catch (OverlappingFileLockException | NoSuchFileException ex) {
			// Somebody else removes it: another sweep of this process, or of another.
		}
		finally {
			if (!locked) {
				channel.close();
			}
		}
		return locked ? new OwnedDirectory(path, lockFile, channel) : null;
	}

	/**
	 * Tells whether directory and lock file are still there.
	 */
	boolean isIntact(SpillFileSystem fileSystem) throws IOException {
		try {
			return fileSystem.state(this.path).directory()
					&& Objects.equals(fileSystem.state(this.lockFile).key(), this.lock.key());
		}
		catch (NoSuchFileException ex) {
			return false;
		}
	}

	/**
	 * Removes the spill files, the directory and the lock file. What somebody else put
	 * into the directory stays, and so does the directory then.
	 * @return whether there was a directory
	 */
	boolean remove(SpillFileSystem fileSystem) throws IOException {
		try (this.lock) {
			boolean existed = removeDirectory(fileSystem);
			fileSystem.delete(this.lockFile);
			return existed;
		}
	}

	private boolean removeDirectory(SpillFileSystem fileSystem) throws IOException {
		try {
			if (!fileSystem.state(this.path).directory()) {
				return false;
			}
			for (Path file : fileSystem.list(this.path)) {
				if (file.getFileName().toString().endsWith(FILE_SUFFIX)) {
					fileSystem.delete(file);
				}
			}
			return fileSystem.delete(this.path);
		}
		catch (NoSuchFileException ex) {
			return false;
		}
	}

}
