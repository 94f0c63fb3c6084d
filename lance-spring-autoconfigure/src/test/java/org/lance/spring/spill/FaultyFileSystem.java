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
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.assertj.core.api.ThrowingConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The file system of the machine, until a test says that something fails.
 */
final class FaultyFileSystem implements SpillFileSystem {

	/**
	 * What can fail.
	 */
	enum Operation {

		CREATE_DIRECTORY, CREATE, OPEN, STATE, WRITE, PARTIAL_WRITE, READ, SIZE, MAP, LOCK, CLOSE, DELETE, LIST,
		TRUNCATE, VOLUME

	}

	private static final Set<Operation> FAIL_IN = EnumSet.of(Operation.CREATE_DIRECTORY, Operation.CREATE,
			Operation.WRITE, Operation.TRUNCATE);

	private final LocalFileSystem delegate = new LocalFileSystem();

	private final Map<Operation, Integer> counts = new EnumMap<>(Operation.class);

	private final Map<Operation, Fault> faults = new EnumMap<>(Operation.class);

	private final Map<Path, String> bad = new ConcurrentHashMap<>();

	private final Map<Path, Volume> volumes = new ConcurrentHashMap<>();

	private long room = Long.MAX_VALUE;

	private int maxWrite = Integer.MAX_VALUE;

	private @Nullable Runnable beforeRead;

	private @Nullable Runnable beforeWrite;

	private Check beforeAnything = (operation) -> {
	};

	private @Nullable ThrowingConsumer<Path> beforeCreateDirectory;

	/**
	 * Lets an operation fail, and all later ones of the kind.
	 * @param operation which
	 * @param from the number of the first that fails, counted from 0 from now on
	 */
	void fail(Operation operation, int from, String reason) {
		fail(operation, from, Integer.MAX_VALUE, reason);
	}

	synchronized void fail(Operation operation, int from, int times, String reason) {
		this.counts.put(operation, 0);
		this.faults.put(operation, new Fault(from, times, reason));
	}

	/**
	 * Lets everything fail that adds something to a directory.
	 */
	void failIn(Path directory, String reason) {
		this.bad.put(directory, reason);
	}

	synchronized void repair() {
		this.faults.clear();
		this.bad.clear();
		this.volumes.clear();
		this.room = Long.MAX_VALUE;
	}

	/**
	 * Lets the disk be full after that many bytes more.
	 */
	void room(long bytes) {
		this.room = bytes;
	}

	/**
	 * Sets the disk that a directory is on.
	 */
	void volume(Path directory, long usable, long total, String type) {
		this.volumes.put(directory, new Volume(usable, total, type));
	}

	/**
	 * Lets each write take no more than that.
	 */
	void maxWrite(int bytes) {
		this.maxWrite = bytes;
	}

	/**
	 * Does something before a private directory is made.
	 */
	void beforeCreateDirectory(ThrowingConsumer<Path> action) {
		this.beforeCreateDirectory = action;
	}

	void beforeRead(Runnable action) {
		this.beforeRead = action;
	}

	void beforeWrite(Runnable action) {
		this.beforeWrite = action;
	}

	/**
	 * Does something before each call.
	 */
	void beforeAnything(Check action) {
		this.beforeAnything = action;
	}

	synchronized int count(Operation operation) {
		return this.counts.getOrDefault(operation, 0);
	}

	private void check(Operation operation, Path path) throws IOException {
		this.beforeAnything.check(operation);
		count(operation, path);
	}

	private synchronized void count(Operation operation, Path path) throws IOException {
		int number = this.counts.merge(operation, 1, Integer::sum) - 1;
		Fault fault = this.faults.get(operation);
		if (fault != null && number >= fault.from && number - fault.from < fault.times) {
			throw new IOException(fault.reason);
		}
		String reason = below(this.bad, path);
		if (reason != null && FAIL_IN.contains(operation)) {
			throw new IOException(reason);
		}
	}

	private static <T> @Nullable T below(Map<Path, T> values, Path path) {
		return values.entrySet()
			.stream()
			.filter((entry) -> path.startsWith(entry.getKey()))
			.map(Map.Entry::getValue)
			.findFirst()
			.orElse(null);
	}

	@Override
	public void createDirectories(Path directory) throws IOException {
		check(Operation.CREATE_DIRECTORY, directory);
		this.delegate.createDirectories(directory);
	}

	@Override
	public void createDirectory(Path directory) throws IOException {
		check(Operation.CREATE_DIRECTORY, directory);
		if (this.beforeCreateDirectory != null) {
			this.beforeCreateDirectory.accept(directory);
		}
		this.delegate.createDirectory(directory);
	}

	@Override
	public SpillChannel create(Path file) throws IOException {
		check(Operation.CREATE, file);
		return new FaultyChannel(file, this.delegate.create(file));
	}

	@Override
	public SpillChannel open(Path file) throws IOException {
		check(Operation.OPEN, file);
		return new FaultyChannel(file, this.delegate.open(file));
	}

	@Override
	public State state(Path file) throws IOException {
		check(Operation.STATE, file);
		return this.delegate.state(file);
	}

	@Override
	public boolean delete(Path path) throws IOException {
		check(Operation.DELETE, path);
		return this.delegate.delete(path);
	}

	@Override
	public List<Path> list(Path directory) throws IOException {
		check(Operation.LIST, directory);
		return this.delegate.list(directory);
	}

	@Override
	public Volume volume(Path path) throws IOException {
		check(Operation.VOLUME, path);
		Volume volume = below(this.volumes, path);
		if (volume != null) {
			return volume;
		}
		volume = this.delegate.volume(path);
		return (this.room != Long.MAX_VALUE) ? new Volume(this.room, volume.total(), volume.type()) : volume;
	}

	@Override
	public boolean isWritableDirectory(Path path) {
		try {
			this.beforeAnything.check(Operation.STATE);
		}
		catch (IOException ex) {
			return false;
		}
		return below(this.bad, path) == null && this.delegate.isWritableDirectory(path);
	}

	/**
	 * What may refuse a call.
	 */
	@FunctionalInterface
	interface Check {

		void check(Operation operation) throws IOException;

	}

	private record Fault(int from, int times, String reason) {

	}

	private final class FaultyChannel implements SpillChannel {

		private final Path file;

		private final SpillChannel delegate;

		FaultyChannel(Path file, SpillChannel delegate) {
			this.file = file;
			this.delegate = delegate;
		}

		@Override
		public @Nullable Object key() {
			return this.delegate.key();
		}

		@Override
		public long write(long position, ByteBuffer[] buffers, int first) throws IOException {
			check(Operation.WRITE, this.file);
			FaultyFileSystem faults = FaultyFileSystem.this;
			if (faults.beforeWrite != null) {
				faults.beforeWrite.run();
			}
			writePartially(position, buffers[first]);
			long limit = Math.min(faults.maxWrite, faults.room);
			if (limit == 0) {
				throw new IOException("No space left on device");
			}
			if (limit == Integer.MAX_VALUE) {
				return this.delegate.write(position, buffers, first);
			}
			ByteBuffer whole = buffers[first];
			ByteBuffer part = whole.duplicate().limit((int) Math.min(whole.limit(), whole.position() + limit));
			long count = this.delegate.write(position, new ByteBuffer[] { part }, 0);
			whole.position(part.position());
			if (faults.room != Long.MAX_VALUE) {
				faults.room -= count;
			}
			return count;
		}

		/**
		 * Lets a write fail after some bytes, as a disk may.
		 */
		private void writePartially(long position, ByteBuffer buffer) throws IOException {
			try {
				check(Operation.PARTIAL_WRITE, this.file);
			}
			catch (IOException ex) {
				ByteBuffer part = buffer.duplicate();
				part.limit(part.position() + (part.remaining() + 1) / 2);
				this.delegate.write(position, new ByteBuffer[] { part }, 0);
				throw ex;
			}
		}

		@Override
		public int read(long position, ByteBuffer target) throws IOException {
			check(Operation.READ, this.file);
			if (FaultyFileSystem.this.beforeRead != null) {
				FaultyFileSystem.this.beforeRead.run();
			}
			return this.delegate.read(position, target);
		}

		@Override
		public void truncate(long size) throws IOException {
			check(Operation.TRUNCATE, this.file);
			this.delegate.truncate(size);
		}

		@Override
		public long size() throws IOException {
			check(Operation.SIZE, this.file);
			return this.delegate.size();
		}

		@Override
		public MappedWindow map(long position, long size) throws IOException {
			check(Operation.MAP, this.file);
			return this.delegate.map(position, size);
		}

		@Override
		public boolean tryLock() throws IOException {
			check(Operation.LOCK, this.file);
			return this.delegate.tryLock();
		}

		@Override
		public void close() throws IOException {
			FaultyFileSystem.this.beforeAnything.check(Operation.CLOSE);
			this.delegate.close();
			count(Operation.CLOSE, this.file);
		}

	}

}
