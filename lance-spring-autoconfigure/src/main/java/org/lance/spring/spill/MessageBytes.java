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
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

import com.google.flatbuffers.Table;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.util.MemoryUtil;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.BatchMemory;

/**
 * The bytes of one message of a spill file, in a mapping or in memory of their own.
 * Nothing in them is believed: they are compared with the index, which was kept outside
 * the file.
 *
 * @param address where they are
 * @param position where they are in the file
 * @param allocated the bytes of memory of their own, 0 in a mapping
 * @param decompressed where the buffers are in a body that was decompressed, or
 * {@code null} if they are where the metadata say
 * @param release gives them back; to be run once
 */
record MessageBytes(long address, FileIndex.Position position, long allocated,
		CompressedBody.@Nullable BufferTable decompressed, Runnable release) {

	private static final int PREFIX = 8;

	MessageBytes(long address, FileIndex.Position position, long allocated, Runnable release) {
		this(address, position, allocated, null, release);
	}

	/**
	 * Returns a checksum of which nothing is computed.
	 */
	MessageChecksum newChecksum() {
		return new MessageChecksum(this.position.pieces());
	}

	/**
	 * Adds the bytes of a piece to a checksum. They must be known to lie within the file.
	 */
	void update(CRC32 crc, int piece) {
		MessagePieces pieces = this.position.pieces();
		crc.update(bytes(pieces.start(piece), pieces.length(piece)));
	}

	/**
	 * Tells whether the bytes were compared with their checksum, or authenticated, before
	 * they became what they are now.
	 */
	boolean isVerified() {
		return this.decompressed != null || this.position.encrypted();
	}

	/**
	 * Returns the bytes that the message holds, of a mapping or of memory of its own.
	 */
	long length() {
		return (this.allocated > 0) ? this.allocated : this.position.length();
	}

	/**
	 * Parses a record batch.
	 * @param memory what its buffers belong to
	 * @throws DamagedException if it is none, or another one than the index says
	 */
	ArrowRecordBatch batch(BatchMemory memory) throws DamagedException {
		return body((RecordBatch) header(MessageHeader.RecordBatch, new RecordBatch()), memory);
	}

	/**
	 * Parses the header of a dictionary batch.
	 */
	DictionaryBatch dictionary() throws DamagedException {
		return (DictionaryBatch) header(MessageHeader.DictionaryBatch, new DictionaryBatch());
	}

	/**
	 * Decompresses the body.
	 * @return the message with its body decompressed, in memory of its own
	 */
	MessageBytes decompress(BufferAllocator allocator) throws DamagedException {
		CompressedBody body;
		try {
			RecordBatch batch = (message().headerType() == MessageHeader.DictionaryBatch) ? dictionary().data()
					: (RecordBatch) header(MessageHeader.RecordBatch, new RecordBatch());
			body = new CompressedBody(this, batch);
		}
		catch (RuntimeException ex) {
			throw new DamagedException("its metadata can't be read", ex);
		}
		return body.decompress(allocator);
	}

	private Message message() {
		return Message.getRootAsMessage(bytes(PREFIX, this.position.metadataLength() - PREFIX));
	}

	private Table header(byte type, Table target) throws DamagedException {
		try {
			Message message = message();
			if (MemoryUtil.getInt(this.address) != -1
					|| MemoryUtil.getInt(this.address + Integer.BYTES) != this.position.metadataLength() - PREFIX
					|| message.headerType() != type || message.bodyLength() != this.position.bodyLength()) {
				throw new DamagedException("it is another message than the one that was written", null);
			}
			return message.header(target);
		}
		catch (RuntimeException ex) {
			throw new DamagedException("its metadata can't be read", ex);
		}
	}

	/**
	 * Parses the columns of a batch or dictionary.
	 */
	ArrowRecordBatch body(RecordBatch batch, BatchMemory memory) throws DamagedException {
		try {
			long body = this.address + this.position.metadataLength();
			List<ArrowFieldNode> nodes = new ArrayList<>(batch.nodesLength());
			for (int i = 0; i < batch.nodesLength(); i++) {
				FieldNode node = batch.nodes(i);
				nodes.add(new ArrowFieldNode(Math.toIntExact(node.length()), Math.toIntExact(node.nullCount())));
			}
			List<ArrowBuf> buffers = new ArrayList<>(batch.buffersLength());
			for (int i = 0; i < batch.buffersLength(); i++) {
				buffers.add(buffer(batch, i, body, memory));
			}
			List<Long> variadicBufferCounts = new ArrayList<>(batch.variadicBufferCountsLength());
			for (int i = 0; i < batch.variadicBufferCountsLength(); i++) {
				variadicBufferCounts.add(batch.variadicBufferCounts(i));
			}
			return new ArrowRecordBatch(Math.toIntExact(batch.length()), nodes, buffers,
					NoCompressionCodec.DEFAULT_BODY_COMPRESSION, variadicBufferCounts, true, false);
		}
		catch (RuntimeException ex) {
			throw new DamagedException("its metadata can't be read", ex);
		}
	}

	private ArrowBuf buffer(RecordBatch batch, int index, long body, BatchMemory memory) throws DamagedException {
		if (this.decompressed != null) {
			return memory.buffer(body + this.decompressed.offsets()[index], this.decompressed.lengths()[index]);
		}
		Buffer buffer = batch.buffers(index);
		long offset = buffer.offset();
		long length = buffer.length();
		if (offset < 0 || length < 0 || offset > this.position.bodyLength() - length) {
			throw new DamagedException("a buffer lies outside of its body", null);
		}
		return memory.buffer(body + offset, length);
	}

	private ByteBuffer bytes(long start, int length) {
		return MemoryUtil.directBuffer(this.address + start, length);
	}

}
