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

import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.source.StreamingWriteSource;

/**
 * Makes replay spills and keeps them within limits of memory, in a private directory that
 * is gone at the end.
 * <p>
 * <b>Ownership.</b> Owns its spills and directory, not the allocator and executor.
 * <b>Threads.</b> Any.
 *
 * @since 0.1.0
 */
public final class SpillManager implements AutoCloseable {

	/**
	 * Starts building a manager.
	 * @param allocator where batches read from disk go; must stay open as long as any
	 * batch is held
	 * @param executor does the file work; never waits for anyone, so one thread is enough
	 * @return the builder
	 */
	public static Builder builder(BufferAllocator allocator, ExecutorService executor) {
		return builder(allocator, executor, executor::isShutdown);
	}

	/**
	 * Starts building a manager.
	 * @param allocator where batches read from disk go; must stay open as long as any
	 * batch is held
	 * @param executor does the file work; never waits for anyone, so one thread is enough
	 * @param shutdown tells whether the executor was shut down and takes no task any more
	 * @return the builder
	 */
	public static Builder builder(BufferAllocator allocator, Executor executor, BooleanSupplier shutdown) {
		return new Builder(allocator, executor, shutdown);
	}

	/**
	 * Creates a spill.
	 * @param schema the schema of all batches, in memory format
	 * @return the spill, owned by the caller
	 * @throws SpillClosedException if this manager takes no more spills
	 */
	public ReplaySpill createReplaySpill(Schema schema) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Creates a spill.
	 * @param schema the schema of all batches, in memory format
	 * @param options what it does differently
	 * @return the spill, owned by the caller
	 * @throws SpillClosedException if this manager takes no more spills
	 */
	public ReplaySpill createReplaySpill(Schema schema, SpillOptions options) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Drains a source into a spill, in the background.
	 * @param source the source, taken over
	 * @return the receiver of the spill, at once; closing it closes the spill and the
	 * source
	 */
	public SpillReceiver spill(StreamingWriteSource source) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Drains a source into a spill, in the background.
	 * @param source the source, taken over
	 * @param options what the spill does differently
	 * @return the receiver of the spill, at once; closing it closes the spill and the
	 * source
	 */
	public SpillReceiver spill(StreamingWriteSource source, SpillOptions options) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns what the live spills hold now.
	 * @return one snapshot for each
	 */
	public List<SpillSnapshot> spills() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns what this manager did and holds.
	 * @return the statistics
	 */
	public SpillStatistics statistics() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns the stage of the start-up sweep that removes directories of dead processes.
	 * @return the stage of how many were removed
	 */
	public CompletionStage<Integer> reclaimed() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Takes no more spills (until {@link #resume()}), lets live ones end within the time,
	 * then fails the rest with a {@link SpillClosedException}. Never blocks.
	 * @param grace how long live spills may go on
	 * @return the stage that ends when no spill is live
	 */
	public CompletionStage<Void> drain(Duration grace) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Takes spills again after a {@link #drain(Duration)}.
	 */
	public void resume() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Fails live spills, gives everything back and removes the directory. Idempotent.
	 * Does not wait for the spill executor's running work; see {@link #closed()}.
	 */
	@Override
	public void close() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns the stage that ends when everything is given back.
	 * @return the stage
	 */
	public CompletionStage<Void> closed() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Builds a {@link SpillManager}.
	 *
	 * @since 0.1.0
	 */
	public static final class Builder {

		/**
		 * The bytes that one spill may hold in memory, unless said otherwise: 100 MB.
		 */
		public static final long DEFAULT_MEMORY_LIMIT = 100L * 1024 * 1024;

		/**
		 * The bytes that all spills may hold in memory together, unless said otherwise: 1
		 * GB.
		 */
		public static final long DEFAULT_TOTAL_MEMORY_LIMIT = 1024L * 1024 * 1024;

		private final BufferAllocator allocator;

		private final Executor executor;

		private final BooleanSupplier shutdown;

		private Supplier<Path> directory = () -> Path.of(System.getProperty("java.io.tmpdir"));

		private long memoryLimit = DEFAULT_MEMORY_LIMIT;

		private long totalMemoryLimit = DEFAULT_TOTAL_MEMORY_LIMIT;

		private Verification verification = Verification.ALWAYS;

		private ReadMode readMode = ReadMode.MAP;

		private InstantSource clock = InstantSource.system();

		private Builder(BufferAllocator allocator, Executor executor, BooleanSupplier shutdown) {
			this.allocator = allocator;
			this.executor = executor;
			this.shutdown = shutdown;
		}

		/**
		 * Sets the directory in which this manager makes a private one of its own.
		 * @param directory gives the directory; asked on first use, on the executor
		 * @return this builder
		 */
		public Builder directory(Supplier<Path> directory) {
			this.directory = directory;
			return this;
		}

		/**
		 * Sets the directories in which this manager makes private ones of its own.
		 * @param directories the directories, one or more; at present the first is used
		 * @return this builder
		 */
		public Builder directories(List<Path> directories) {
			if (directories.isEmpty()) {
				throw new IllegalArgumentException("'directories' must name at least one directory");
			}
			Path first = directories.get(0);
			this.directory = () -> first;
			return this;
		}

		/**
		 * Sets how much one spill may hold in memory.
		 * @param bytes the bytes, 0 or more; 0 writes everything to disk
		 * @return this builder
		 */
		public Builder memoryLimit(long bytes) {
			this.memoryLimit = checked("memoryLimit", bytes);
			return this;
		}

		/**
		 * Sets how much all spills may hold in memory together.
		 * @param bytes the bytes, 0 or more
		 * @return this builder
		 */
		public Builder totalMemoryLimit(long bytes) {
			this.totalMemoryLimit = checked("totalMemoryLimit", bytes);
			return this;
		}

		/**
		 * Sets when batches read from disk are verified.
		 * @param verification when
		 * @return this builder
		 */
		public Builder verification(Verification verification) {
			this.verification = verification;
			return this;
		}

		/**
		 * Sets how batches are read from disk.
		 * @param readMode how
		 * @return this builder
		 */
		public Builder readMode(ReadMode readMode) {
			this.readMode = readMode;
			return this;
		}

		/**
		 * Sets the clock that tells the age of spills.
		 * @param clock the clock
		 * @return this builder
		 */
		public Builder clock(InstantSource clock) {
			this.clock = clock;
			return this;
		}

		/**
		 * Builds the manager. No file is touched on this thread.
		 * @return the manager, owned by the caller
		 */
		public SpillManager build() {
			throw new UnsupportedOperationException();
		}

		private static long checked(String name, long bytes) {
			if (bytes < 0) {
				throw new IllegalArgumentException("'%s' must be 0 or more, but was %d".formatted(name, bytes));
			}
			return bytes;
		}

	}

}
