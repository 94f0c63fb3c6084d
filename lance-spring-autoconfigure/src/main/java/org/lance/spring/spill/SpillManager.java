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
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.source.ReopenableSource;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.stream.EngineThreads;
import org.lance.spring.stream.RecordBatchStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes replay spills and keeps them within limits of memory and disk. Their files are in
 * private directories, one in each configured directory, that are gone at the end.
 * <p>
 * <b>Ownership.</b> Owns its spills and directories, not the allocator and executor.
 * <b>Threads.</b> Any.
 *
 * @since 0.1.0
 */
public final class SpillManager implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(SpillManager.class);

	private final SpillFile.Store store;

	private final Supplier<SpillExecutor> executors;

	private final SpillExecutor executor;

	private final MemoryBudget budget;

	private final SpillCounters counters = new SpillCounters();

	private final LiveSpills spills;

	private final BufferAllocator allocator;

	private final long memoryLimit;

	private final boolean traces;

	private final SpillMode mode;

	private final UnusableDirectory unusableDirectory;

	private final Verification verification;

	private final SpillCompression compression;

	private final boolean encryption;

	private final InstantSource clock;

	private final AtomicLong numbers = new AtomicLong();

	private final AtomicBoolean closing = new AtomicBoolean();

	private final CompletableFuture<Integer> reclaimed = EngineThreads.newFuture();

	private final CompletableFuture<Void> closed = EngineThreads.newFuture();

	private SpillManager(Builder builder, SpillFile.Store store) {
		this.store = store;
		Executor shared = builder.executor;
		BooleanSupplier shutdown = builder.shutdown;
		this.executors = () -> new SpillExecutor(shared, shutdown);
		this.executor = this.executors.get();
		this.budget = new MemoryBudget(builder.totalMemoryLimit);
		this.spills = new LiveSpills(this.executor);
		this.allocator = builder.allocator;
		this.memoryLimit = builder.memoryLimit;
		this.traces = builder.creationTraces;
		this.mode = builder.mode;
		this.unusableDirectory = builder.unusableDirectory;
		this.verification = builder.verification;
		this.compression = builder.compression;
		this.encryption = builder.encryption;
		this.clock = builder.clock;
		this.executor.execute(this::reclaim, () -> this.reclaimed.complete(0));
	}

	private void reclaim() {
		int count = 0;
		try {
			count = this.store.reclaim();
			this.counters.orphansReclaimed.add(count);
		}
		catch (Throwable ex) {
			// What others left behind must not keep this process from starting.
			logger.warn("Directories of dead processes could not be reclaimed", ex);
		}
		this.reclaimed.complete(count);
	}

	/**
	 * Starts building a manager.
	 * @param allocator where batches read from disk go, small and wasteful ones are
	 * copied to, and those that are written are compacted, compressed and encrypted; must
	 * stay open as long as any batch is held
	 * @param executor does the file work; never waits for anyone, so one thread is
	 * enough. It must not make the thread that gives it a task wait
	 * @return the builder
	 */
	public static Builder builder(BufferAllocator allocator, ExecutorService executor) {
		return builder(allocator, executor, executor::isShutdown);
	}

	/**
	 * Starts building a manager.
	 * @param allocator where batches read from disk go, small and wasteful ones are
	 * copied to, and those that are written are compacted, compressed and encrypted; must
	 * stay open as long as any batch is held
	 * @param executor does the file work; never waits for anyone, so one thread is
	 * enough. It must not make the thread that gives it a task wait
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
		return createReplaySpill(schema, SpillOptions.DEFAULTS);
	}

	/**
	 * Creates a spill.
	 * @param schema the schema of all batches, in memory format
	 * @param options what it does differently
	 * @return the spill, owned by the caller
	 * @throws SpillClosedException if this manager takes no more spills
	 * @throws IllegalStateException if the options ask for compression and its library is
	 * missing or does not work here
	 */
	public ReplaySpill createReplaySpill(Schema schema, SpillOptions options) {
		return create(nextName(options), schema, Map.of(), options);
	}

	private String nextName(SpillOptions options) {
		return ((options.name() != null) ? options.name() : "spill") + "-" + this.numbers.incrementAndGet();
	}

	private CoreSpill create(String name, Schema schema, Map<Long, Field> dictionaryFields, SpillOptions options) {
		long limit = (options.memoryLimit() >= 0) ? options.memoryLimit() : this.memoryLimit;
		Verification when = (options.verification() != null) ? options.verification() : this.verification;
		SpillFormat format = format(options, when);
		SpillMode mode = (options.mode() != null) ? options.mode() : this.mode;
		SpillExecutor own = this.executors.get();
		SpillCore core = new SpillCore(name, schema, dictionaryFields,
				new SpillMemory(limit, this.budget, this.allocator, schema),
				new SpillDisk(name, this.store, format, own, this.counters, when),
				new SpillPolicy(mode, this.unusableDirectory), this.counters, this.clock, this.spills);
		this.spills.add(core);
		this.counters.created.increment();
		return new CoreSpill(core, own, this.traces ? new CreationTrace() : null);
	}

	private SpillFormat format(SpillOptions options, Verification when) {
		SpillCompression own = options.compression();
		if (own != null) {
			checkLibrary(own);
		}
		Boolean encryption = options.encryption();
		return new SpillFormat((own != null) ? own : this.compression,
				(encryption != null) ? encryption : this.encryption, when != Verification.NEVER);
	}

	private static void checkLibrary(SpillCompression compression) {
		if (compression.codec() != SpillCodec.NONE) {
			ZstdCodec.check();
		}
	}

	/**
	 * Drains a source into a spill, in the background.
	 * @param source the source, taken over, also when this method throws
	 * @return the receiver of the spill, at once; closing it closes the spill and the
	 * source
	 * @throws SpillClosedException if this manager takes no more spills
	 * @throws IllegalStateException if the source was used before
	 * @throws org.lance.spring.stream.StreamAdmissionException if the background executor
	 * takes no more streams
	 */
	public SpillReceiver spill(StreamingWriteSource source) {
		return spill(source, SpillOptions.DEFAULTS);
	}

	/**
	 * Drains a source into a spill, in the background.
	 * @param source the source, taken over, also when this method throws
	 * @param options what the spill does differently
	 * @return the receiver of the spill, at once; closing it closes the spill and the
	 * source. A source that fails is an error to readers, as with
	 * {@link SpillSender#sendError(Throwable)}
	 * @throws SpillClosedException if this manager takes no more spills
	 * @throws IllegalStateException if the source was used before, or the options ask for
	 * compression and its library is missing or does not work here
	 * @throws org.lance.spring.stream.StreamAdmissionException if the background executor
	 * takes no more streams
	 */
	public SpillReceiver spill(StreamingWriteSource source, SpillOptions options) {
		String name = nextName(options);
		RecordBatchStream stream;
		try {
			this.spills.checkOpen(name);
			stream = source.intoStream();
		}
		catch (Throwable ex) {
			source.close();
			throw ex;
		}
		CoreSpill spill;
		try {
			spill = create(name, stream.schema(), stream.dictionaryFields(), options);
		}
		catch (Throwable ex) {
			stream.close();
			throw ex;
		}
		SourceDrain drain = new SourceDrain(name, stream, spill.sender());
		drain.start(spill.receiver().written());
		return spill.receiver(drain);
	}

	/**
	 * Drains a source into a spill and gives its receiver when all is written: a barrier
	 * between two steps that each need much memory.
	 * @param source the source, taken over, also when this method throws
	 * @return the stage of the receiver, which closes the spill. If the source or the
	 * spill fails, the stage fails as a reader would, and the spill is closed. Cancelling
	 * the stage does not stop the drain, and nobody gets the receiver then: the spill is
	 * given back as a forgotten one, after a garbage collection. To be able to stop, use
	 * {@link #spill(StreamingWriteSource) spill} and {@link SpillReceiver#written()}:
	 * closing the receiver ends the drain
	 * @throws SpillClosedException if this manager takes no more spills
	 * @throws IllegalStateException if the source was used before
	 * @throws org.lance.spring.stream.StreamAdmissionException if the background executor
	 * takes no more streams
	 */
	public CompletionStage<SpillReceiver> materialize(StreamingWriteSource source) {
		return materialize(source, SpillOptions.DEFAULTS);
	}

	/**
	 * Drains a source into a spill and gives its receiver when all is written: a barrier
	 * between two steps that each need much memory.
	 * @param source the source, taken over, also when this method throws
	 * @param options what the spill does differently
	 * @return the stage of the receiver, which closes the spill. If the source or the
	 * spill fails, the stage fails as a reader would, and the spill is closed. Cancelling
	 * the stage does not stop the drain, and nobody gets the receiver then: the spill is
	 * given back as a forgotten one, after a garbage collection. To be able to stop, use
	 * {@link #spill(StreamingWriteSource) spill} and {@link SpillReceiver#written()}:
	 * closing the receiver ends the drain
	 * @throws SpillClosedException if this manager takes no more spills
	 * @throws IllegalStateException if the source was used before, or the options ask for
	 * compression and its library is missing or does not work here
	 * @throws org.lance.spring.stream.StreamAdmissionException if the background executor
	 * takes no more streams
	 */
	public CompletionStage<SpillReceiver> materialize(StreamingWriteSource source, SpillOptions options) {
		SpillReceiver receiver = spill(source, options);
		// A spill that fails gives itself back.
		return receiver.written().thenApply((written) -> receiver);
	}

	/**
	 * Makes a source that can be opened again and again of one that can be read once: it
	 * is drained into a spill, in the background.
	 * @param source the source, taken over, also when this method throws
	 * @return the source, owned by the caller; closing it closes the spill. One that was
	 * opened while the spill is written gets what was written, then the rest
	 * @throws SpillClosedException if this manager takes no more spills
	 * @throws IllegalStateException if the source was used before
	 * @throws org.lance.spring.stream.StreamAdmissionException if the background executor
	 * takes no more streams
	 */
	public ReopenableSource reopenable(StreamingWriteSource source) {
		return reopenable(source, SpillOptions.DEFAULTS);
	}

	/**
	 * Makes a source that can be opened again and again of one that can be read once: it
	 * is drained into a spill, in the background.
	 * @param source the source, taken over, also when this method throws
	 * @param options what the spill does differently
	 * @return the source, owned by the caller; closing it closes the spill. One that was
	 * opened while the spill is written gets what was written, then the rest
	 * @throws SpillClosedException if this manager takes no more spills
	 * @throws IllegalStateException if the source was used before, or the options ask for
	 * compression and its library is missing or does not work here
	 * @throws org.lance.spring.stream.StreamAdmissionException if the background executor
	 * takes no more streams
	 */
	public ReopenableSource reopenable(StreamingWriteSource source, SpillOptions options) {
		return new SpilledSource(spill(source, options));
	}

	/**
	 * Returns what the spills hold now that hold anything.
	 * @return one snapshot for each
	 */
	public List<SpillSnapshot> spills() {
		return this.spills.all().stream().map(SpillCore::snapshot).toList();
	}

	/**
	 * The spills that hold anything, for tests.
	 */
	List<SpillCore> cores() {
		return this.spills.all();
	}

	/**
	 * Returns what this manager did and holds.
	 * @return the statistics
	 */
	public SpillStatistics statistics() {
		return new SpillStatistics(this.spills.size(), this.budget.used(), this.budget.limit(),
				this.store.budget().used(), this.store.budget().limit(), this.counters.files.sum(),
				this.counters.bytesWritten.sum(), this.counters.bytesRead.sum(), this.counters.created.sum(),
				this.counters.spilled.sum(), this.counters.writes.sum(),
				Duration.ofNanos(this.counters.writeNanos.sum()), this.counters.reads.sum(),
				Duration.ofNanos(this.counters.readNanos.sum()), this.counters.failures(),
				this.counters.orphansReclaimed.sum());
	}

	/**
	 * Changes how much disk space the files of all spills may take together. A limit
	 * below what they take now refuses new writes and leaves what is there alone.
	 * @param bytes the bytes, 1 or more; {@link Long#MAX_VALUE} for no limit
	 */
	public void setDiskLimit(long bytes) {
		this.store.budget().limit(Builder.positive("bytes", bytes));
	}

	/**
	 * Returns the stage of the start-up sweep that removes directories of dead processes.
	 * @return the stage of how many were removed; it never fails
	 */
	public CompletionStage<Integer> reclaimed() {
		return this.reclaimed.copy();
	}

	/**
	 * Takes no more spills (until {@link #resume()}), lets live ones end within the time,
	 * then fails the rest with a {@link SpillClosedException}. Never blocks.
	 * <p>
	 * A spill is live while it is being written, read or given back. One that is complete
	 * and has no reader is left as it is: it can be read again after {@link #resume()},
	 * and {@link #close()} removes it.
	 * @param grace how long live spills may go on
	 * @return the stage that ends when no spill is live
	 */
	public CompletionStage<Void> drain(Duration grace) {
		return this.spills.drain(grace);
	}

	/**
	 * Takes spills again after a {@link #drain(Duration)}; one that has not ended is
	 * cancelled.
	 */
	public void resume() {
		this.spills.resume();
	}

	/**
	 * Closes all spills, failing live ones, gives everything back and removes the private
	 * directories. Idempotent. Does not wait for the spill executor's running work; see
	 * {@link #closed()}.
	 */
	@Override
	public void close() {
		if (!this.closing.compareAndSet(false, true)) {
			return;
		}
		CompletionStage<Void> spillsClosed = this.spills.close();
		this.executor.settle();
		spillsClosed.runAfterBoth(this.reclaimed, () -> this.executor.cleanUp(this::closeStore));
	}

	private void closeStore() {
		try {
			this.store.close();
		}
		catch (Throwable ex) {
			logger.warn("The directory of spills could not be removed", ex);
		}
		this.closed.complete(null);
	}

	/**
	 * Returns the stage that ends when everything is given back.
	 * @return the stage
	 */
	public CompletionStage<Void> closed() {
		return this.closed.copy();
	}

	/**
	 * Builds a {@link SpillManager}.
	 * <p>
	 * <b>Ownership.</b> Neither the allocator nor the executor is taken over.
	 * <b>Threads.</b> One at a time.
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

		/**
		 * The bytes of a disk that stay free, unless said otherwise: 100 MB.
		 */
		public static final long DEFAULT_MIN_FREE_SPACE = 100L * 1024 * 1024;

		/**
		 * The part of a disk that stays free, unless said otherwise, in percent.
		 */
		public static final int DEFAULT_MIN_FREE_PERCENT = 1;

		/**
		 * How long a directory that failed is left alone, unless said otherwise.
		 */
		public static final Duration DEFAULT_DIRECTORY_RETRY = Duration.ofMinutes(1);

		private List<Supplier<Path>> directories = List.of(() -> Path.of(System.getProperty("java.io.tmpdir")));

		private Duration directoryRetry = DEFAULT_DIRECTORY_RETRY;

		private long memoryLimit = DEFAULT_MEMORY_LIMIT;

		private long totalMemoryLimit = DEFAULT_TOTAL_MEMORY_LIMIT;

		private long diskLimit = ByteBudget.UNLIMITED;

		private SpillMode mode = SpillMode.SPILL;

		private UnusableDirectory unusableDirectory = UnusableDirectory.FAIL;

		private long minFreeSpace = DEFAULT_MIN_FREE_SPACE;

		private int minFreePercent = DEFAULT_MIN_FREE_PERCENT;

		private Verification verification = Verification.ALWAYS;

		private ReadMode readMode = ReadMode.MAP;

		private SpillCompression compression = SpillCompression.NONE;

		private boolean encryption;

		private boolean creationTraces;

		private InstantSource clock = InstantSource.system();

		private Builder(BufferAllocator allocator, Executor executor, BooleanSupplier shutdown) {
			this.allocator = allocator;
			this.executor = executor;
			this.shutdown = shutdown;
		}

		/**
		 * Sets the directory in which this manager makes a private one of its own.
		 * @param directory gives the directory, which need not exist. Asked on the
		 * executor, any number of times: at first soon after the manager was built, to
		 * look for what dead processes left behind
		 * @return this builder
		 */
		public Builder directory(Supplier<Path> directory) {
			this.directories = List.of(directory);
			return this;
		}

		/**
		 * Sets the directories in which this manager makes private ones of its own. New
		 * files go to one after the other, passing over what is full or fails.
		 * @param directories the directories, one or more; relative ones are those of the
		 * working directory now, and one that is named twice counts once
		 * @return this builder
		 */
		public Builder directories(List<Path> directories) {
			if (directories.isEmpty()) {
				throw new IllegalArgumentException("'directories' must name at least one directory");
			}
			this.directories = directories.stream()
				.map((directory) -> directory.toAbsolutePath().normalize())
				.distinct()
				.<Supplier<Path>>map((directory) -> () -> directory)
				.toList();
			return this;
		}

		/**
		 * Sets how long a directory that failed is left alone as long as another works.
		 * @param time the time, 0 or more
		 * @return this builder
		 */
		public Builder directoryRetry(Duration time) {
			if (time.isNegative()) {
				throw new IllegalArgumentException("'time' must be 0 or more, but was " + time);
			}
			this.directoryRetry = time;
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
		 * Sets how much disk space the files of all spills may take together. Without a
		 * limit unless set; see {@link SpillManager#setDiskLimit(long)}.
		 * @param bytes the bytes, 1 or more
		 * @return this builder
		 */
		public Builder diskLimit(long bytes) {
			this.diskLimit = positive("diskLimit", bytes);
			return this;
		}

		/**
		 * Sets what a spill does when its batches do not fit into memory any more, unless
		 * said otherwise.
		 * @param mode what
		 * @return this builder
		 */
		public Builder mode(SpillMode mode) {
			this.mode = mode;
			return this;
		}

		/**
		 * Sets how much of each disk must stay free while files are written, whoever
		 * fills it. The larger of this and {@link #minFreePercent(int)} applies.
		 * @param bytes the bytes, 0 or more
		 * @return this builder
		 */
		public Builder minFreeSpace(long bytes) {
			this.minFreeSpace = checked("minFreeSpace", bytes);
			return this;
		}

		/**
		 * Sets what a spill does when no file can be made, because no directory is
		 * usable.
		 * @param unusableDirectory what
		 * @return this builder
		 */
		public Builder onUnusableDirectory(UnusableDirectory unusableDirectory) {
			this.unusableDirectory = unusableDirectory;
			return this;
		}

		/**
		 * Sets which part of each disk must stay free while files are written, whoever
		 * fills it. The larger of this and {@link #minFreeSpace(long)} applies.
		 * @param percent the part, 0 to 99
		 * @return this builder
		 */
		public Builder minFreePercent(int percent) {
			if (percent < 0 || percent > 99) {
				throw new IllegalArgumentException("'percent' must be between 0 and 99, but was " + percent);
			}
			this.minFreePercent = percent;
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
		 * Sets how files are compressed.
		 * @param compression how
		 * @return this builder
		 * @throws IllegalStateException if the library for that is missing or does not
		 * work here, with what to do about it
		 */
		public Builder compression(SpillCompression compression) {
			checkLibrary(compression);
			this.compression = compression;
			return this;
		}

		/**
		 * Sets whether files are encrypted, each by a key that is made for it and never
		 * leaves memory.
		 * @param encryption whether they are
		 * @return this builder
		 */
		public Builder encryption(boolean encryption) {
			this.encryption = encryption;
			return this;
		}

		/**
		 * Sets whether each spill and reader remembers where it was created, to be told
		 * if it is forgotten. Costs a stack trace for each.
		 * @param creationTraces whether they do
		 * @return this builder
		 */
		public Builder creationTraces(boolean creationTraces) {
			this.creationTraces = creationTraces;
			return this;
		}

		/**
		 * Sets the clock that tells the age of spills, and when to look again at a disk
		 * or a directory that failed.
		 * @param clock the clock
		 * @return this builder
		 */
		public Builder clock(InstantSource clock) {
			this.clock = clock;
			return this;
		}

		/**
		 * Builds the manager. No file is touched on this thread; the executor looks
		 * through the directories for what dead processes left behind.
		 * @return the manager, owned by the caller
		 */
		public SpillManager build() {
			return build(new LocalFileSystem());
		}

		/**
		 * Builds the manager on another file system.
		 */
		SpillManager build(SpillFileSystem fileSystem) {
			return build(fileSystem, () -> WindowPolicy.DEFAULT);
		}

		/**
		 * Builds the manager on another file system that is mapped in other ways.
		 */
		SpillManager build(SpillFileSystem fileSystem, Supplier<WindowPolicy> windows) {
			SpaceFloor floor = new SpaceFloor(this.minFreeSpace, this.minFreePercent);
			SpillDirectories where = SpillDirectories.of(fileSystem, this.directories, floor, this.clock,
					this.directoryRetry);
			return build(new FileSpillStore(where, new ByteBudget(this.diskLimit), this.allocator, this.readMode,
					new SpareThreads(this.executor), fileSystem, windows));
		}

		/**
		 * Builds the manager with other files.
		 */
		SpillManager build(SpillFile.Store store) {
			return new SpillManager(this, store);
		}

		private static long checked(String name, long bytes) {
			if (bytes < 0) {
				throw new IllegalArgumentException("'%s' must be 0 or more, but was %d".formatted(name, bytes));
			}
			return bytes;
		}

		private static long positive(String name, long bytes) {
			if (bytes <= 0) {
				throw new IllegalArgumentException("'%s' must be 1 or more, but was %d".formatted(name, bytes));
			}
			return bytes;
		}

	}

}
