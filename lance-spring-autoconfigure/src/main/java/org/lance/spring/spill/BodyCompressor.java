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

import java.util.ArrayList;
import java.util.List;

import org.apache.arrow.flatbuf.BodyCompressionMethod;
import org.apache.arrow.flatbuf.CompressionType;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.ipc.message.ArrowBodyCompression;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.IpcEncoder;

/**
 * Compresses bodies as the Arrow format says: each buffer starts with its uncompressed
 * length, or with -1 where it would not get smaller and follows as it is. Empty buffers
 * stay empty, as other languages ask for. All buffers of a body go into one allocation,
 * made before; Arrow's own codecs lose memory when they fail.
 * <p>
 * One thread at a time.
 */
final class BodyCompressor implements AutoCloseable {

	static final int PREFIX = 8;

	/**
	 * The length of a buffer that is stored as it is.
	 */
	static final long STORED = -1;

	private static final ArrowBodyCompression ZSTD = new ArrowBodyCompression(CompressionType.ZSTD,
			BodyCompressionMethod.BUFFER);

	private final int level;

	private @Nullable ZstdCodec codec;

	BodyCompressor(int level) {
		this.level = level;
	}

	/**
	 * Compresses a body.
	 * @param body the body, borrowed
	 * @param scratch where it goes
	 */
	IpcEncoder.Body compress(ArrowRecordBatch body, ScratchMemory scratch) {
		long room = 0;
		long uncompressed = 0;
		for (ArrowBuf buffer : body.getBuffers()) {
			long length = buffer.readableBytes();
			if (length > 0) {
				room += PREFIX + align(ZstdCodec.bound(length));
				uncompressed += align(length);
			}
		}
		if (uncompressed == 0) {
			return new IpcEncoder.Body(body, 0);
		}
		ArrowBuf target = scratch.allocate(room);
		List<ArrowBuf> buffers = new ArrayList<>(body.getBuffers().size());
		long position = 0;
		for (ArrowBuf buffer : body.getBuffers()) {
			long length = buffer.readableBytes();
			long written = (length > 0) ? compress(buffer, length, target, position, room) : 0;
			buffers.add(target.slice(position, written));
			position += align(written);
		}
		return new IpcEncoder.Body(new ArrowRecordBatch(body.getLength(), body.getNodes(), buffers, ZSTD,
				body.getVariadicBufferCounts(), true, false), uncompressed);
	}

	private long compress(ArrowBuf source, long length, ArrowBuf target, long position, long room) {
		long from = source.memoryAddress() + source.readerIndex();
		long start = position + PREFIX;
		long written = codec().compress(from, length, target.memoryAddress() + start, room - start);
		if (written < length) {
			target.setLong(position, length);
			return PREFIX + written;
		}
		target.setLong(position, STORED);
		target.setBytes(start, source, source.readerIndex(), length);
		return PREFIX + length;
	}

	private ZstdCodec codec() {
		if (this.codec == null) {
			this.codec = new ZstdCodec(this.level);
		}
		return this.codec;
	}

	static long align(long length) {
		return (length + 7) & -8;
	}

	/**
	 * Gives the memory of the codec back. Idempotent.
	 */
	@Override
	public void close() {
		ZstdCodec current = this.codec;
		this.codec = null;
		if (current != null) {
			current.close();
		}
	}

}
