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
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;

/**
 * The spill files of one manager, in private directories of its own below the configured
 * ones. Nothing is made there before the first file is created.
 * <p>
 * May be used from any thread. Methods that touch the disk block: on the spill executor
 * only.
 */
final class FileSpillStore implements SpillFile.Store {

	private static final int MAX_NAME = 64;

	private final SpillFileSystem fileSystem;

	private final BufferAllocator allocator;

	private final ReadMode readMode;

	private final Supplier<WindowPolicy> windows;

	private final SpillDirectories directories;

	private final ByteBudget budget;

	private final SpareThreads spareThreads;

	private final UndeletedFiles undeleted;

	private final AtomicLong sequence = new AtomicLong();

	/**
	 * Creates a store without limits. Touches nothing.
	 * @param base gives the configured directory
	 * @param allocator where batches that are not mapped are read into
	 * @param readMode how files are read
	 */
	FileSpillStore(Supplier<Path> base, BufferAllocator allocator, ReadMode readMode) {
		this(base, allocator, readMode, new LocalFileSystem(), () -> WindowPolicy.DEFAULT);
	}

	FileSpillStore(Supplier<Path> base, BufferAllocator allocator, ReadMode readMode, SpillFileSystem fileSystem,
			Supplier<WindowPolicy> windows) {
		this(SpillDirectories.of(fileSystem, List.of(base), SpaceFloor.NONE, InstantSource.system(), Duration.ZERO),
				new ByteBudget(ByteBudget.UNLIMITED), allocator, readMode, SpareThreads.NONE, fileSystem, windows);
	}

	/**
	 * Creates a store. Touches nothing.
	 * @param directories where files go
	 * @param budget what all files may take together
	 * @param allocator where batches that are not mapped are read into
	 * @param readMode how files are read
	 * @param spareThreads threads that help
	 * @param fileSystem the file system of the directories
	 * @param windows how files are mapped, asked for each file
	 */
	FileSpillStore(SpillDirectories directories, ByteBudget budget, BufferAllocator allocator, ReadMode readMode,
			SpareThreads spareThreads, SpillFileSystem fileSystem, Supplier<WindowPolicy> windows) {
		this.spareThreads = spareThreads;
		this.fileSystem = fileSystem;
		this.allocator = allocator;
		this.readMode = readMode;
		this.windows = windows;
		this.directories = directories;
		this.budget = budget;
		this.undeleted = new UndeletedFiles(fileSystem);
	}

	@Override
	public SpillFile create(String name, Schema schema, Map<Long, Field> dictionaryFields, SpillFormat format) {
		this.undeleted.retry();
		return this.directories.create(name, (directory) -> create(name, directory, schema, dictionaryFields, format));
	}

	private SpillFile create(String name, SpillDirectory directory, Schema schema, Map<Long, Field> dictionaryFields,
			SpillFormat format) throws IOException {
		try {
			try {
				return create(name, newPath(directory, name), directory, schema, dictionaryFields, format);
			}
			catch (NoSuchFileException ex) {
				// The directory was removed at this moment; the next look notices it.
				return create(name, newPath(directory, name), directory, schema, dictionaryFields, format);
			}
		}
		catch (SpillException ex) {
			if (ex.getCause() instanceof IOException cause) {
				throw cause;
			}
			throw ex;
		}
	}

	private Path newPath(SpillDirectory directory, String name) throws IOException {
		Path path = directory.path();
		directory.take(0);
		return path
			.resolve("%d-%s%s".formatted(this.sequence.incrementAndGet(), safe(name), OwnedDirectory.FILE_SUFFIX));
	}

	/**
	 * Creates a file at a path.
	 * @param directory the one of ours that the path is in, or {@code null} if it is in
	 * none
	 */
	SpillFile create(String name, Path path, @Nullable SpillDirectory directory, Schema schema,
			Map<Long, Field> dictionaryFields, SpillFormat format) throws IOException {
		WindowPolicy policy = this.windows.get();
		MessageEncoder encoder = new MessageEncoder(schema, format, this.allocator, System::nanoTime);
		FileCipher cipher = format.encrypted() ? new FileCipher() : null;
		SpillFileSystem.SpillChannel channel = create(path, encoder);
		FileErrors errors = new FileErrors(name, path);
		FileIndex index = new FileIndex(format);
		FileSpace space = new FileSpace(this.budget, directory, errors);
		FileWindows windows = new FileWindows(path, policy, space, this.spareThreads);
		FileWriter writer = new FileWriter(this.fileSystem, path, channel, encoder, format.checksums(), cipher,
				this.allocator, index, windows, space, errors, this.spareThreads);
		FileReader reader = new FileReader(this.fileSystem, path, channel.key(), schema, index,
				(this.readMode == ReadMode.MAP) ? windows : null, errors, this.allocator, cipher, this.spareThreads);
		SpillFile file = new IpcSpillFile(path, channel.key(), space, index, writer, reader, this.undeleted);
		try {
			writer.start(dictionaryFields);
			return file;
		}
		catch (Throwable ex) {
			file.delete();
			throw ex;
		}
	}

	private SpillFileSystem.SpillChannel create(Path path, MessageEncoder encoder) throws IOException {
		try {
			return this.fileSystem.create(path);
		}
		catch (Throwable ex) {
			encoder.close();
			throw ex;
		}
	}

	/**
	 * The name of a spill may be anything, that of a file may not.
	 */
	private static String safe(String name) {
		String safe = name.replaceAll("[^A-Za-z0-9._-]", "_");
		return safe.substring(0, Math.min(MAX_NAME, safe.length()));
	}

	@Override
	public ByteBudget budget() {
		return this.budget;
	}

	@Override
	public int reclaim() {
		return this.directories.reclaim();
	}

	@Override
	public void close() {
		this.undeleted.retry();
		this.directories.close();
		// The directory may have been removed with what was left in it.
		this.undeleted.retry();
	}

}
