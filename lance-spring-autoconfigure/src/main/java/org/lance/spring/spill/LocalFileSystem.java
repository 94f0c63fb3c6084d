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
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The file system of the machine.
 */
final class LocalFileSystem implements SpillFileSystem {

	private static final Set<OpenOption> OPEN = Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);

	private static final Set<OpenOption> CREATE = Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE,
			StandardOpenOption.CREATE_NEW);

	private static final FileAttribute<?>[] NO_ATTRIBUTES = {};

	private static final int MAX_STORES = 32;

	/**
	 * To find the store of a path, the JDK reads the table of all mounts, which takes as
	 * long as writing a megabyte. How much is free is asked anew each time, for the path.
	 */
	private final Map<Path, FileStore> stores = new ConcurrentHashMap<>();

	@Override
	public void createDirectories(Path directory) throws IOException {
		Files.createDirectories(directory, permissions(directory, "rwx------"));
	}

	@Override
	public void createDirectory(Path directory) throws IOException {
		Files.createDirectory(directory, permissions(directory, "rwx------"));
	}

	/**
	 * Given at creation: set afterwards, others could open the file in between.
	 */
	private static FileAttribute<?>[] permissions(Path path, String permissions) {
		if (!path.getFileSystem().supportedFileAttributeViews().contains("posix")) {
			return NO_ATTRIBUTES;
		}
		return new FileAttribute<?>[] {
				PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions)) };
	}

	@Override
	public SpillChannel create(Path file) throws IOException {
		FileChannel channel = FileChannel.open(file, CREATE, permissions(file, "rw-------"));
		try {
			return opened(file, channel);
		}
		catch (Throwable ex) {
			Files.deleteIfExists(file);
			throw ex;
		}
	}

	@Override
	public SpillChannel open(Path file) throws IOException {
		return opened(file, reopen(file));
	}

	private SpillChannel opened(Path file, FileChannel channel) throws IOException {
		try {
			return new LocalChannel(this, file, channel, state(file).key());
		}
		catch (Throwable ex) {
			channel.close();
			throw ex;
		}
	}

	FileChannel reopen(Path file) throws IOException {
		try {
			return FileChannel.open(file, OPEN);
		}
		catch (FileSystemException ex) {
			throw missing(file, ex);
		}
	}

	/**
	 * Somebody may have put a file in the place of a directory. There is nothing below it
	 * then, which systems say in words of their own.
	 */
	private static FileSystemException missing(Path path, FileSystemException failure) {
		if (!(failure instanceof NoSuchFileException) && isBelowFile(path)) {
			NoSuchFileException missing = new NoSuchFileException(path.toString(), null,
					"a file is in the place of its directory");
			missing.initCause(failure);
			return missing;
		}
		return failure;
	}

	private static boolean isBelowFile(Path path) {
		Path above = path.getParent();
		while (above != null && !Files.exists(above)) {
			above = above.getParent();
		}
		return above != null && !Files.isDirectory(above);
	}

	@Override
	public State state(Path file) throws IOException {
		BasicFileAttributes attributes;
		try {
			attributes = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
		}
		catch (FileSystemException ex) {
			throw missing(file, ex);
		}
		return new State(attributes.size(), attributes.fileKey(), attributes.isDirectory(),
				attributes.lastModifiedTime().to(TimeUnit.NANOSECONDS));
	}

	@Override
	public boolean delete(Path path) throws IOException {
		try {
			return Files.deleteIfExists(path);
		}
		catch (FileSystemException ex) {
			if (missing(path, ex) instanceof NoSuchFileException) {
				return false;
			}
			throw ex;
		}
	}

	@Override
	public List<Path> list(Path directory) throws IOException {
		try (Stream<Path> entries = Files.list(directory)) {
			return entries.toList();
		}
	}

	@Override
	public Volume volume(Path path) throws IOException {
		FileStore store = this.stores.get(path);
		if (store == null) {
			store = Files.getFileStore(path);
			if (this.stores.size() >= MAX_STORES) {
				this.stores.clear();
			}
			this.stores.put(path, store);
		}
		return new Volume(store.getUsableSpace(), store.getTotalSpace(), store.type());
	}

	@Override
	public boolean isWritableDirectory(Path path) {
		return Files.isDirectory(path) && Files.isWritable(path);
	}

}
