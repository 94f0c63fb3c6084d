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

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import org.apache.arrow.memory.util.MemoryUtil;

/**
 * ZSTD on plain addresses. The only class here that refers to the optional library.
 * <p>
 * One thread at a time.
 */
final class ZstdCodec implements AutoCloseable {

	/**
	 * What one frame holds: the library counts in {@code int}. Decompressing frames that
	 * follow each other gives one whole, in all libraries.
	 */
	private static final int MAX_FRAME = 1 << 30;

	private static final AtomicInteger open = new AtomicInteger();

	private final ZstdCompressCtx context = new ZstdCompressCtx();

	ZstdCodec(int level) {
		open.incrementAndGet();
		try {
			this.context.setLevel(level);
		}
		catch (Throwable ex) {
			close();
			throw ex;
		}
	}

	/**
	 * How many are open in this JVM.
	 */
	static int open() {
		return open.get();
	}

	/**
	 * Fails if the library is missing or does not work here.
	 * @throws IllegalStateException what to do about it
	 */
	static void check() {
		try {
			Zstd.maxCompressionLevel();
		}
		catch (LinkageError ex) {
			throw new IllegalStateException(
					"The library for ZSTD is missing or does not work here (%s). Add 'com.github.luben:zstd-jni' to the class path, let it write and execute a file in java.io.tmpdir, or don't compress spills"
						.formatted(ex),
					ex);
		}
	}

	/**
	 * Returns the bytes that must be there to compress that many into.
	 */
	static long bound(long length) {
		long frames = length / MAX_FRAME;
		return frames * Zstd.compressBound(MAX_FRAME) + Zstd.compressBound(length - frames * MAX_FRAME);
	}

	/**
	 * Compresses bytes.
	 * @param room the bytes at the target, at least their {@link #bound(long)}
	 * @return the bytes that they take compressed
	 */
	long compress(long source, long length, long target, long room) {
		long written = 0;
		for (long start = 0; start < length; start += MAX_FRAME) {
			ByteBuffer from = bytes(source + start, length - start);
			ByteBuffer to = bytes(target + written, room - written);
			written += this.context.compressDirectByteBuffer(to, 0, to.capacity(), from, 0,
					Math.min(from.capacity(), MAX_FRAME));
		}
		return written;
	}

	private static ByteBuffer bytes(long address, long length) {
		return MemoryUtil.directBuffer(address, (int) Math.min(length, Integer.MAX_VALUE));
	}

	/**
	 * Decompresses bytes.
	 * @throws DamagedException if they can't be decompressed to exactly that many
	 */
	static void decompress(long source, long length, long target, long targetLength) throws DamagedException {
		long written = Zstd.decompressUnsafe(target, targetLength, source, length);
		if (Zstd.isError(written)) {
			throw new DamagedException("a buffer can't be decompressed: " + Zstd.getErrorName(written), null);
		}
		if (written != targetLength) {
			throw new DamagedException("a buffer has %d bytes instead of %d".formatted(written, targetLength), null);
		}
	}

	@Override
	public void close() {
		open.decrementAndGet();
		this.context.close();
	}

}
