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
import java.util.List;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.lance.spring.stream.IpcEncoder;

/**
 * Encrypts messages on their way to the file, in pieces, so that the largest one takes no
 * more memory than a few chunks.
 */
final class EncryptedOutput {

	/**
	 * The bytes that are written at once.
	 */
	private static final int PIECE = 4 * (FileCipher.CHUNK + FileCipher.TAG);

	private final FileCipher cipher;

	private final BufferAllocator allocator;

	private final PlainOutput.Output output;

	EncryptedOutput(FileCipher cipher, BufferAllocator allocator, PlainOutput.Output output) {
		this.cipher = cipher;
		this.allocator = allocator;
		this.output = output;
	}

	/**
	 * Writes a message.
	 * @param kind what it is
	 * @param message the message
	 * @param offset where in the file it goes
	 */
	void write(FileCipher.Kind kind, IpcEncoder.Message message, long offset) throws IOException {
		FileCipher.Part part = new FileCipher.Part(kind, offset, message.length());
		byte[] chunk = new byte[(int) Math.min(part.length(), FileCipher.CHUNK)];
		byte[] encrypted = new byte[chunk.length + FileCipher.TAG];
		ChunkReader reader = new ChunkReader(message.buffers());
		int room = (int) Math.min(PIECE, FileCipher.storedLength(part.length()));
		try (ArrowBuf piece = this.allocator.buffer(room)) {
			long position = offset;
			int filled = 0;
			for (int length = reader.read(chunk); length > 0; length = reader.read(chunk)) {
				this.cipher.encrypt(part, position, chunk, length, encrypted);
				int stored = length + FileCipher.TAG;
				if (filled + stored > room) {
					this.output.write(new ByteBuffer[] { piece.nioBuffer(0, filled) });
					filled = 0;
				}
				piece.setBytes(filled, encrypted, 0, stored);
				filled += stored;
				position += stored;
			}
			this.output.write(new ByteBuffer[] { piece.nioBuffer(0, filled) });
		}
	}

	/**
	 * The bytes of many buffers one after the other.
	 */
	private static final class ChunkReader {

		private final List<ByteBuffer> buffers;

		private int next;

		private ByteBuffer current = ByteBuffer.allocate(0);

		ChunkReader(List<ByteBuffer> buffers) {
			this.buffers = buffers;
		}

		/**
		 * Fills the target as far as there are bytes.
		 * @return how many
		 */
		int read(byte[] target) {
			int filled = 0;
			while (filled < target.length) {
				if (this.current.hasRemaining()) {
					int count = Math.min(this.current.remaining(), target.length - filled);
					this.current.get(target, filled, count);
					filled += count;
				}
				else if (this.next < this.buffers.size()) {
					this.current = this.buffers.get(this.next++).duplicate();
				}
				else {
					break;
				}
			}
			return filled;
		}

	}

}
