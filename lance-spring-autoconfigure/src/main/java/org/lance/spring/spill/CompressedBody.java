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

import org.apache.arrow.flatbuf.BodyCompression;
import org.apache.arrow.flatbuf.BodyCompressionMethod;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.CompressionType;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.util.MemoryUtil;
import org.jspecify.annotations.Nullable;

/**
 * The body of a message that is compressed. Every length in it is compared with what is
 * there, and their sum with the index, before memory is allocated for them.
 */
final class CompressedBody {

	private final MessageBytes message;

	private final long[] offsets;

	private final long[] lengths;

	/**
	 * Where the buffers are once they are decompressed.
	 */
	private final BufferTable table;

	/**
	 * Reads the lengths of a body.
	 * @param message the message, borrowed
	 * @param batch its batch
	 * @throws DamagedException if they contradict each other or the index
	 */
	CompressedBody(MessageBytes message, RecordBatch batch) throws DamagedException {
		this.message = message;
		checkCodec(batch.compression());
		FileIndex.Position position = message.position();
		int count = batch.buffersLength();
		this.offsets = new long[count];
		this.lengths = new long[count];
		this.table = new BufferTable(new long[count], new long[count]);
		long target = 0;
		for (int i = 0; i < count; i++) {
			Buffer buffer = batch.buffers(i);
			long length = buffer.length();
			if (buffer.offset() < 0 || length < 0 || buffer.offset() > position.bodyLength() - length) {
				throw new DamagedException("a buffer lies outside of its body", null);
			}
			this.offsets[i] = position.metadataLength() + buffer.offset();
			this.lengths[i] = length;
			this.table.offsets()[i] = target;
			this.table.lengths()[i] = uncompressedLength(this.offsets[i], length, position.uncompressedLength());
			target += BodyCompressor.align(this.table.lengths()[i]);
			if (target > position.uncompressedLength()) {
				break;
			}
		}
		if (target != position.uncompressedLength()) {
			throw new DamagedException("its buffers are decompressed to other lengths than those that were written",
					null);
		}
	}

	private static void checkCodec(@Nullable BodyCompression compression) throws DamagedException {
		if (compression == null || compression.codec() != CompressionType.ZSTD
				|| compression.method() != BodyCompressionMethod.BUFFER) {
			throw new DamagedException("it is not compressed as it was written", null);
		}
	}

	private long uncompressedLength(long offset, long length, long most) throws DamagedException {
		if (length == 0) {
			return 0;
		}
		long claimed = (length >= BodyCompressor.PREFIX) ? MemoryUtil.getLong(this.message.address() + offset) : -2;
		long real = (claimed == BodyCompressor.STORED) ? length - BodyCompressor.PREFIX : claimed;
		if (real < 0 || real > most) {
			throw new DamagedException("a buffer claims to have %d bytes".formatted(claimed), null);
		}
		return real;
	}

	/**
	 * Decompresses it.
	 * @return the metadata as it was and the decompressed body, in memory of their own
	 */
	MessageBytes decompress(BufferAllocator allocator) throws DamagedException {
		FileIndex.Position position = this.message.position();
		int metadata = position.metadataLength();
		long size = metadata + position.uncompressedLength();
		ArrowBuf target = allocator.buffer(size);
		try {
			MemoryUtil.copyMemory(this.message.address(), target.memoryAddress(), metadata);
			for (int i = 0; i < this.offsets.length; i++) {
				if (this.lengths[i] > 0) {
					decompress(i, target.memoryAddress() + metadata + this.table.offsets()[i]);
				}
			}
			return new MessageBytes(target.memoryAddress(), position, size, this.table, target::close);
		}
		catch (Throwable ex) {
			target.close();
			throw ex;
		}
	}

	private void decompress(int buffer, long target) throws DamagedException {
		long source = this.message.address() + this.offsets[buffer];
		long length = this.lengths[buffer] - BodyCompressor.PREFIX;
		long targetLength = this.table.lengths()[buffer];
		if (MemoryUtil.getLong(source) == BodyCompressor.STORED) {
			MemoryUtil.copyMemory(source + BodyCompressor.PREFIX, target, length);
		}
		else {
			ZstdCodec.decompress(source + BodyCompressor.PREFIX, length, target, targetLength);
		}
	}

	/**
	 * Where buffers are in a body, if not where its metadata say.
	 *
	 * @param offsets where each starts
	 * @param lengths how long each is
	 */
	record BufferTable(long[] offsets, long[] lengths) {

	}

}
