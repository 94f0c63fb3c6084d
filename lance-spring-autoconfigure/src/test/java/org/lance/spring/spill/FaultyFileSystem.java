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
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The file system of the machine, until a test says that something fails.
 */
final class FaultyFileSystem implements SpillFileSystem {

	/**
	 * What can fail.
	 */
	enum Operation {

		CREATE_DIRECTORY, CREATE, OPEN, STATE, WRITE, READ, SIZE, MAP, LOCK, CLOSE, DELETE, LIST

	}

	private final LocalFileSystem delegate = new LocalFileSystem();

	private final Map<Operation, Integer> counts = new EnumMap<>(Operation.class);

	private final Map<Operation, Fault> faults = new EnumMap<>(Operation.class);

	private long room = Long.MAX_VALUE;

	private int maxWrite = Integer.MAX_VALUE;

	private @Nullable Runnable beforeRead;

	/**
	 * Lets an operation fail, and all later ones of the kind.
	 * @param operation which
	 * @param from the number of the first that fails, counted from 0 from now on
	 */
	void fail(Operation operation, int from, String reason) {
		fail(operation, from, Integer.MAX_VALUE, reason);
	}

	void fail(Operation operation, int from, int times, String reason) {
		this.counts.put(operation, 0);
		this.faults.put(operation, new Fault(from, times, reason));
	}

	void repair() {
		this.faults.clear();
		this.room = Long.MAX_VALUE;
	}

	/**
	 * Lets the disk be full after that many bytes more.
	 */
	void room(long bytes) {
		this.room = bytes;
	}

	/**
	 * Lets each write take no more than that.
	 */
	void maxWrite(int bytes) {
		this.maxWrite = bytes;
	}

	void beforeRead(Runnable action) {
		this.beforeRead = action;
	}

	int count(Operation operation) {
		return this.counts.getOrDefault(operation, 0);
	}

	private void check(Operation operation) throws IOException {
		int number = this.counts.merge(operation, 1, Integer::sum) - 1;
		Fault fault = this.faults.get(operation);
		if (fault != null && number >= fault.from && number - fault.from < fault.times) {
			throw new IOException(fault.reason);
		}
	}

	@Override
	public void createDirectories(Path directory) throws IOException {
		check(Operation.CREATE_DIRECTORY);
		this.delegate.createDirectories(directory);
	}

	@Override
	public SpillChannel create(Path file) throws IOException {
		check(Operation.CREATE);
		return new FaultyChannel(this.delegate.create(file));
	}

	@Override
	public SpillChannel open(Path file) throws IOException {
		check(Operation.OPEN);
		return new FaultyChannel(this.delegate.open(file));
	}

	@Override
	public State state(Path file) throws IOException {
		check(Operation.STATE);
		return this.delegate.state(file);
	}

	@Override
	public boolean delete(Path path) throws IOException {
		check(Operation.DELETE);
		return this.delegate.delete(path);
	}

	@Override
	public List<Path> list(Path directory) throws IOException {
		check(Operation.LIST);
		return this.delegate.list(directory);
	}

	@Override
	public long usableSpace(Path path) throws IOException {
		return (this.room != Long.MAX_VALUE) ? this.room : this.delegate.usableSpace(path);
	}

	private record Fault(int from, int times, String reason) {

	}

	private final class FaultyChannel implements SpillChannel {

		private final SpillChannel delegate;

		FaultyChannel(SpillChannel delegate) {
			this.delegate = delegate;
		}

		@Override
		public @Nullable Object key() {
			return this.delegate.key();
		}

		@Override
		public long write(long position, ByteBuffer[] buffers, int first) throws IOException {
			check(Operation.WRITE);
			FaultyFileSystem faults = FaultyFileSystem.this;
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

		@Override
		public int read(long position, ByteBuffer target) throws IOException {
			check(Operation.READ);
			if (FaultyFileSystem.this.beforeRead != null) {
				FaultyFileSystem.this.beforeRead.run();
			}
			return this.delegate.read(position, target);
		}

		@Override
		public void truncate(long size) throws IOException {
			this.delegate.truncate(size);
		}

		@Override
		public long size() throws IOException {
			check(Operation.SIZE);
			return this.delegate.size();
		}

		@Override
		public MappedWindow map(long position, long size) throws IOException {
			check(Operation.MAP);
			return this.delegate.map(position, size);
		}

		@Override
		public boolean tryLock() throws IOException {
			check(Operation.LOCK);
			return this.delegate.tryLock();
		}

		@Override
		public void close() throws IOException {
			this.delegate.close();
			check(Operation.CLOSE);
		}

	}

}
