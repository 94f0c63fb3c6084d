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

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * All that this package does to the disk, so that tests can make any of it fail. Methods
 * block; an interrupt of the calling thread neither fails nor stops them and is kept.
 */
interface SpillFileSystem {

	/**
	 * Creates a directory and those above it that are missing, all of them private. No
	 * failure if it exists, or a symbolic link to it.
	 */
	void createDirectories(Path directory) throws IOException;

	/**
	 * Creates a private directory, which must not exist.
	 */
	void createDirectory(Path directory) throws IOException;

	/**
	 * Creates a private file, which must not exist, and opens it.
	 */
	SpillChannel create(Path file) throws IOException;

	/**
	 * Opens a file that exists.
	 */
	SpillChannel open(Path file) throws IOException;

	/**
	 * Returns what is at a path now, without opening it.
	 * @throws java.nio.file.NoSuchFileException if there is nothing
	 */
	State state(Path file) throws IOException;

	/**
	 * Deletes a file or an empty directory.
	 * @return whether there was one
	 */
	boolean delete(Path path) throws IOException;

	/**
	 * Lists a directory.
	 */
	List<Path> list(Path directory) throws IOException;

	/**
	 * Returns the disk of something that exists. Costs more than a small write, and far
	 * more for a path that was not asked for before.
	 */
	Volume volume(Path path) throws IOException;

	/**
	 * Tells whether something that exists is a directory, or a symbolic link to one, in
	 * which this process may make files.
	 */
	boolean isWritableDirectory(Path path);

	/**
	 * A disk.
	 *
	 * @param usable the bytes that still fit
	 * @param total all bytes
	 * @param type the type of its file system, as the operating system calls it
	 */
	record Volume(long usable, long total, String type) {

	}

	/**
	 * What is at a path. A symbolic link is not followed.
	 *
	 * @param size its bytes
	 * @param key its identity, or {@code null} where files have none
	 * @param directory whether it is a directory
	 * @param modified when it was changed last, in nanoseconds; a coarse clock
	 */
	record State(long size, @Nullable Object key, boolean directory, long modified) {

	}

	/**
	 * An open file. One thread at a time.
	 */
	interface SpillChannel extends Closeable {

		/**
		 * Returns the identity of the file, or {@code null} where files have none.
		 */
		@Nullable Object key();

		/**
		 * Writes, at a position, what it can of the buffers from {@code first} on.
		 * @return the bytes written, perhaps fewer than there are
		 */
		long write(long position, ByteBuffer[] buffers, int first) throws IOException;

		/**
		 * Returns the bytes that remain in buffers, from the first one on.
		 */
		static long remaining(ByteBuffer[] buffers, int first) {
			long remaining = 0;
			for (int i = first; i < buffers.length; i++) {
				remaining += buffers[i].remaining();
			}
			return remaining;
		}

		/**
		 * Reads, from a position, what it can.
		 * @return the bytes read, perhaps fewer than fit, or -1 at the end of the file
		 */
		int read(long position, ByteBuffer target) throws IOException;

		/**
		 * Cuts the file.
		 */
		void truncate(long size) throws IOException;

		/**
		 * Returns the length of the file.
		 */
		long size() throws IOException;

		/**
		 * Maps a part of the file. The mapping outlives this channel.
		 * @return the mapping, owned by the caller
		 */
		MappedWindow map(long position, long size) throws IOException;

		/**
		 * Locks the file against other processes, until this channel is closed. To be
		 * used on files that this JVM opens once: closing any other channel of the file
		 * would end the lock.
		 * @return whether it is locked; if not, another process has it
		 */
		boolean tryLock() throws IOException;

	}

}
