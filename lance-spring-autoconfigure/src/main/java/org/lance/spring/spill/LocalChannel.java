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
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * An open file of the machine. An interrupt closes a file channel, whatever the thread is
 * interrupted for; here the file is opened again and the work goes on, as the writer or
 * reader behind it may serve many others.
 */
final class LocalChannel implements SpillFileSystem.SpillChannel {

	private static final AtomicInteger open = new AtomicInteger();

	private final LocalFileSystem fileSystem;

	private final Path file;

	private final @Nullable Object key;

	private FileChannel channel;

	/**
	 * Where the channel writes next, or -1 if that is not known: moving it costs a call
	 * of the system for each write.
	 */
	private long next = -1;

	private boolean closed;

	LocalChannel(LocalFileSystem fileSystem, Path file, FileChannel channel, @Nullable Object key) {
		this.fileSystem = fileSystem;
		this.file = file;
		this.channel = channel;
		this.key = key;
		open.incrementAndGet();
	}

	/**
	 * How many are open in this JVM.
	 */
	static int open() {
		return open.get();
	}

	@Override
	public @Nullable Object key() {
		return this.key;
	}

	@Override
	public long write(long position, ByteBuffer[] buffers, int first) throws IOException {
		long before = SpillFileSystem.SpillChannel.remaining(buffers, first);
		return uninterrupted((channel) -> {
			// An interrupt may come when a part or all was written: the buffers know.
			long done = before - SpillFileSystem.SpillChannel.remaining(buffers, first);
			if (done > 0) {
				return done;
			}
			if (position != this.next) {
				channel.position(position);
			}
			this.next = -1;
			long count = channel.write(buffers, first, buffers.length - first);
			this.next = position + count;
			return count;
		});
	}

	@Override
	public int read(long position, ByteBuffer target) throws IOException {
		int before = target.position();
		return uninterrupted((channel) -> {
			int done = target.position() - before;
			return (done > 0) ? done : channel.read(target, position);
		});
	}

	@Override
	public void truncate(long size) throws IOException {
		this.next = -1;
		uninterrupted((channel) -> channel.truncate(size));
	}

	@Override
	public long size() throws IOException {
		return uninterrupted(FileChannel::size);
	}

	@Override
	public MappedWindow map(long position, long size) throws IOException {
		return uninterrupted((channel) -> MappedWindow.map(channel, position, size));
	}

	@Override
	public boolean tryLock() throws IOException {
		// Not repeated: a lock is lost with its channel.
		return this.channel.tryLock() != null;
	}

	private <T> T uninterrupted(Operation<T> operation) throws IOException {
		boolean interrupted = Thread.interrupted();
		try {
			while (true) {
				try {
					return operation.on(this.channel);
				}
				catch (ClosedByInterruptException ex) {
					Thread.interrupted();
					interrupted = true;
					reopen();
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private void reopen() throws IOException {
		this.next = -1;
		this.channel = this.fileSystem.reopen(this.file);
		if (!Objects.equals(this.fileSystem.state(this.file).key(), this.key)) {
			throw new IOException("%s was replaced by another file".formatted(this.file));
		}
	}

	@Override
	public void close() throws IOException {
		if (!this.closed) {
			this.closed = true;
			open.decrementAndGet();
			this.channel.close();
		}
	}

	/**
	 * What is done with the channel; done again if an interrupt closed it.
	 */
	private interface Operation<T> {

		T on(FileChannel channel) throws IOException;

	}

}
