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

package org.lance.spring.source;

import java.util.function.IntFunction;

import org.apache.arrow.flatbuf.CompressionType;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Rewrites a body into one new allocation with all buffers uncompressed and aligned.
 */
final class IpcBodyRewriter {

	/**
	 * The codec of a body that is not compressed.
	 */
	static final byte NONE = -1;

	private static final int PREFIX = 8;

	/**
	 * The length prefix of a buffer that is stored as it is.
	 */
	private static final long STORED = -1;

	/**
	 * More than the best compression of each codec, so that a small buffer can't claim an
	 * absurd length.
	 */
	private static final long ZSTD_RATIO = 40_000;

	private static final long LZ4_RATIO = 256;

	private static final long SLACK = 256 * 1024;

	private final byte codec;

	private final BufferAllocator allocator;

	private final IntFunction<String> names;

	/**
	 * Creates a rewriter.
	 * @param codec how buffers are compressed
	 * @param allocator gives the memory of the new body
	 * @param names tells what a buffer is of, for messages
	 */
	IpcBodyRewriter(byte codec, BufferAllocator allocator, IntFunction<String> names) {
		if (codec != NONE && codec != CompressionType.ZSTD && codec != CompressionType.LZ4_FRAME) {
			throw new UnsupportedIpcException(
					"The batch is compressed by the unknown codec %d. Write it with ZSTD or LZ4_FRAME"
						.formatted(codec));
		}
		this.codec = codec;
		this.allocator = allocator;
		this.names = names;
	}

	/**
	 * Rewrites a body.
	 * @param body the body, borrowed
	 * @param offsets where each buffer starts, replaced by where it starts now
	 * @param lengths how long each buffer is, replaced by how long it is now
	 * @return the new body, owned by the caller
	 */
	ArrowBuf rewrite(ArrowBuf body, long[] offsets, long[] lengths) {
		long total = 0;
		long[] targets = new long[lengths.length];
		for (int i = 0; i < lengths.length; i++) {
			targets[i] = length(i, body, offsets[i], lengths[i]);
			total = Math.addExact(total, align(targets[i]));
		}
		ArrowBuf target = this.allocator.buffer(total);
		try {
			long position = 0;
			for (int i = 0; i < lengths.length; i++) {
				if (targets[i] > 0) {
					write(i, body, offsets[i], lengths[i], target, position, targets[i]);
				}
				offsets[i] = position;
				lengths[i] = targets[i];
				position += align(targets[i]);
			}
			return target;
		}
		catch (Throwable ex) {
			target.close();
			throw ex;
		}
	}

	private long length(int index, ArrowBuf body, long offset, long length) {
		if (this.codec == NONE || length == 0) {
			return length;
		}
		if (length < PREFIX) {
			throw new MalformedIpcException("%s: compressed buffer %d has %d bytes, too few for its length prefix"
				.formatted(this.names.apply(index), index, length));
		}
		long claimed = body.getLong(offset);
		if (claimed == STORED) {
			return length - PREFIX;
		}
		long most = SLACK + (length - PREFIX) * ((this.codec == CompressionType.ZSTD) ? ZSTD_RATIO : LZ4_RATIO);
		if (claimed < 0 || claimed > most) {
			throw new MalformedIpcException(
					"%s: compressed buffer %d of %d bytes says that it has %d bytes uncompressed"
						.formatted(this.names.apply(index), index, length, claimed));
		}
		return claimed;
	}

	private void write(int index, ArrowBuf body, long offset, long length, ArrowBuf target, long position,
			long targetLength) {
		if (this.codec == NONE) {
			target.setBytes(position, body, offset, length);
			return;
		}
		if (body.getLong(offset) == STORED) {
			target.setBytes(position, body, offset + PREFIX, length - PREFIX);
			return;
		}
		long written;
		try {
			written = (this.codec == CompressionType.ZSTD)
					? IpcCodecs.zstd(body, offset + PREFIX, length - PREFIX, target, position, targetLength)
					: IpcCodecs.lz4(body, offset + PREFIX, length - PREFIX, target, position, targetLength);
		}
		catch (MalformedIpcException ex) {
			throw new MalformedIpcException("%s: %s".formatted(this.names.apply(index), ex.getMessage()), ex);
		}
		catch (LinkageError ex) {
			throw new UnsupportedIpcException(
					"The batch is compressed, and the library for that is missing or does not "
							+ "work here. Add 'org.apache.arrow:arrow-compression' to the class path, or write without "
							+ "compression",
					ex);
		}
		if (written != targetLength) {
			throw new MalformedIpcException(
					"%s: compressed buffer %d says that it has %d bytes uncompressed, but has %s".formatted(
							this.names.apply(index), index, targetLength, (written > targetLength) ? "more" : written));
		}
	}

	private static long align(long length) {
		return Math.addExact(length, 7) & -8;
	}

}
