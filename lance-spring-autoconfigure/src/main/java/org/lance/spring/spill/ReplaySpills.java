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
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Makes replay spills without a {@link SpillManager}: one spill, one file at a path of
 * the caller's, no shared limits. Counterpart of {@code create_replay_spill} of Lance's
 * DataFusion integration.
 * <p>
 * <b>Ownership.</b> The spill is the caller's; the allocator and the executor stay so.
 * <b>Threads.</b> Any.
 *
 * @since 0.1.0
 */
public final class ReplaySpills {

	private ReplaySpills() {
	}

	/**
	 * Creates a spill. Looks whether the path exists, so this method touches the disk.
	 * @param path where the file goes if the spill leaves memory; its directory must
	 * exist. The file is deleted when the spill is closed
	 * @param schema the schema of all batches, in memory format
	 * @param memoryLimit the bytes that the spill may hold in memory; 0 writes everything
	 * to disk
	 * @param allocator where batches read from disk go, small and wasteful ones are
	 * copied to, and those that are written are compacted, compressed and encrypted; must
	 * stay open as long as any batch is held
	 * @param executor does the file work; never waits for anyone, so one thread is
	 * enough. Not shut down
	 * @return the spill, owned by the caller
	 * @throws SpillIoException with a {@link FileAlreadyExistsException} as its cause if
	 * the path exists; nothing at it is touched. If it comes into being later, the write
	 * that makes the file fails so
	 */
	public static ReplaySpill create(Path path, Schema schema, long memoryLimit, BufferAllocator allocator,
			ExecutorService executor) {
		if (memoryLimit < 0) {
			throw new IllegalArgumentException("'memoryLimit' must be 0 or more, but was " + memoryLimit);
		}
		String name = String.valueOf(path.getFileName());
		if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
			throw exists(name, path, new FileAlreadyExistsException(path.toString()));
		}
		SpillExecutor own = new SpillExecutor(executor, executor::isShutdown);
		SpillCounters counters = new SpillCounters();
		SpillDisk disk = new SpillDisk(name, new OneFile(path, allocator), SpillFormat.PLAIN, own, counters,
				Verification.ALWAYS);
		SpillCore core = new SpillCore(name, schema, Map.of(),
				new SpillMemory(memoryLimit, new MemoryBudget(Long.MAX_VALUE), allocator, schema), disk,
				SpillPolicy.DEFAULT, counters, InstantSource.system(), new NoOwner());
		return new CoreSpill(core, own, null);
	}

	private static SpillException exists(String name, Path path, FileAlreadyExistsException cause) {
		return new SpillIoException(name,
				"something exists at %s, which is left untouched. Choose a path that does not exist".formatted(path),
				cause);
	}

	/**
	 * A store of one file.
	 */
	private static final class OneFile implements SpillFile.Store {

		private final Path path;

		private final FileSpillStore files;

		OneFile(Path path, BufferAllocator allocator) {
			this.path = path;
			this.files = new FileSpillStore(path::getParent, allocator, ReadMode.MAP);
		}

		@Override
		public SpillFile create(String name, Schema schema, Map<Long, Field> dictionaryFields, SpillFormat format) {
			try {
				return this.files.create(name, this.path, null, schema, dictionaryFields, format);
			}
			catch (FileAlreadyExistsException ex) {
				throw exists(name, this.path, ex);
			}
			catch (IOException ex) {
				throw FileErrors.creating(name, ex);
			}
		}

		@Override
		public ByteBudget budget() {
			return this.files.budget();
		}

		@Override
		public int reclaim() {
			return 0;
		}

		@Override
		public void close() {
		}

	}

	/**
	 * Nobody has to know.
	 */
	private static final class NoOwner implements SpillOwner {

		@Override
		public void busyChanged(boolean busy) {
		}

		@Override
		public void gone(SpillCore spill) {
		}

		@Override
		public @Nullable CompletionStage<?> makeRoom(SpillCore spill, long wanted) {
			return null;
		}

	}

}
