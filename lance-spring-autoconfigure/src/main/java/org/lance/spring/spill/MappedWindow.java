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
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.arrow.memory.util.MemoryUtil;

/**
 * A mapped part of a file, with a reference count; unmapped exactly once, when the last
 * reference is gone. The mapping is private: whoever writes into it by mistake changes
 * its own copy of a page and neither the file nor (as with a read-only mapping) the life
 * of the JVM.
 * <p>
 * Starts with one reference, owned by whoever mapped it. May be used from any thread.
 */
final class MappedWindow {

	private static final AtomicInteger open = new AtomicInteger();

	private static final Mapper mapper = (Runtime.version().feature() >= ArenaMapper.SINCE) ? new ArenaMapper()
			: new BufferMapper();

	private final AtomicInteger references = new AtomicInteger(1);

	private final long address;

	private final long size;

	private final Runnable unmap;

	private volatile Runnable unmapped = () -> {
	};

	private MappedWindow(long address, long size, Runnable unmap) {
		this.address = address;
		this.size = size;
		this.unmap = unmap;
		open.incrementAndGet();
	}

	/**
	 * Maps a part of a file.
	 * @param channel the file, open for reading and writing
	 * @param size the bytes, at most {@link #maxSize()}, none of them behind the end of
	 * the file
	 * @throws IOException if it can't be mapped
	 */
	static MappedWindow map(FileChannel channel, long position, long size) throws IOException {
		return mapper.map(channel, position, size);
	}

	/**
	 * The largest part that can be mapped at once.
	 */
	static long maxSize() {
		return mapper.maxSize();
	}

	/**
	 * How many are mapped in this JVM.
	 */
	static int open() {
		return open.get();
	}

	long address() {
		return this.address;
	}

	long size() {
		return this.size;
	}

	/**
	 * Sets what to do once it is unmapped; to be called before it is shared.
	 */
	void whenUnmapped(Runnable action) {
		this.unmapped = action;
	}

	/**
	 * Takes a reference unless it is unmapped.
	 */
	boolean tryRetain() {
		return this.references.getAndUpdate((count) -> (count > 0) ? count + 1 : count) > 0;
	}

	void release() {
		int count = this.references.decrementAndGet();
		if (count < 0) {
			throw new IllegalStateException("A mapped file was released more often than retained");
		}
		if (count == 0) {
			open.decrementAndGet();
			try {
				this.unmap.run();
			}
			finally {
				this.unmapped.run();
			}
		}
	}

	private interface Mapper {

		MappedWindow map(FileChannel channel, long position, long size) throws IOException;

		long maxSize();

	}

	/**
	 * By byte buffers, up to JDK 21.
	 */
	private static final class BufferMapper implements Mapper {

		private final MethodHandle cleaner;

		BufferMapper() {
			try {
				Class<?> type = Class.forName("sun.misc.Unsafe");
				Field field = type.getDeclaredField("theUnsafe");
				field.setAccessible(true);
				this.cleaner = MethodHandles.lookup()
					.findVirtual(type, "invokeCleaner", MethodType.methodType(void.class, ByteBuffer.class))
					.bindTo(field.get(null));
			}
			catch (ReflectiveOperationException ex) {
				throw new IllegalStateException("This JDK can't unmap files", ex);
			}
		}

		@Override
		public MappedWindow map(FileChannel channel, long position, long size) throws IOException {
			MappedByteBuffer buffer = channel.map(FileChannel.MapMode.PRIVATE, position, size);
			return new MappedWindow(MemoryUtil.getByteBufferAddress(buffer), size, () -> {
				try {
					this.cleaner.invoke(buffer);
				}
				catch (Throwable ex) {
					throw new IllegalStateException("Can't unmap a file", ex);
				}
			});
		}

		@Override
		public long maxSize() {
			return Integer.MAX_VALUE;
		}

	}

	/**
	 * By memory segments, from JDK 22 on: of any size, and without what newer JDKs warn
	 * of. By method handles, as the bytecode is that of 17.
	 */
	private static final class ArenaMapper implements Mapper {

		static final int SINCE = 22;

		private final MethodHandle ofShared;

		private final MethodHandle map;

		private final MethodHandle address;

		private final MethodHandle close;

		ArenaMapper() {
			try {
				Class<?> arena = Class.forName("java.lang.foreign.Arena");
				Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
				MethodHandles.Lookup lookup = MethodHandles.publicLookup();
				this.ofShared = lookup.findStatic(arena, "ofShared", MethodType.methodType(arena));
				this.map = lookup.findVirtual(FileChannel.class, "map",
						MethodType.methodType(segment, FileChannel.MapMode.class, long.class, long.class, arena));
				this.address = lookup.findVirtual(segment, "address", MethodType.methodType(long.class));
				this.close = lookup.findVirtual(arena, "close", MethodType.methodType(void.class));
			}
			catch (ReflectiveOperationException ex) {
				throw new IllegalStateException("This JDK can't map files", ex);
			}
		}

		@Override
		public MappedWindow map(FileChannel channel, long position, long size) throws IOException {
			Object arena = null;
			try {
				arena = this.ofShared.invoke();
				Object segment = this.map.invoke(channel, FileChannel.MapMode.PRIVATE, position, size, arena);
				long start = (long) this.address.invoke(segment);
				return new MappedWindow(start, size, closing(arena));
			}
			catch (Throwable ex) {
				if (arena != null) {
					closing(arena).run();
				}
				throw failure(ex);
			}
		}

		private Runnable closing(Object arena) {
			return () -> {
				try {
					this.close.invoke(arena);
				}
				catch (Throwable ex) {
					throw new IllegalStateException("Can't unmap a file", ex);
				}
			};
		}

		private static IOException failure(Throwable ex) {
			if (ex instanceof RuntimeException exception) {
				throw exception;
			}
			if (ex instanceof Error error) {
				throw error;
			}
			return (IOException) ex;
		}

		@Override
		public long maxSize() {
			return Long.MAX_VALUE;
		}

	}

}
