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
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

import org.lance.spring.stream.IpcEncoder;

/**
 * Writes messages as they are, in pieces: they fit into the cache of a processor, which
 * then reads them once for the checksum and the write, and one large write of many
 * buffers takes longer than many small ones. The checksum of a large message is computed
 * by a second thread meanwhile, if one can be had.
 */
final class PlainOutput {

	private final Output output;

	private final SpareThreads spareThreads;

	PlainOutput(Output output, SpareThreads spareThreads) {
		this.output = output;
		this.spareThreads = spareThreads;
	}

	/**
	 * Writes a message. When this returns or throws, nobody touches it any more.
	 * @param offset where it starts in the file
	 * @param checksum whether its checksum is needed
	 * @return its checksum, or 0 if it is not needed
	 */
	int write(IpcEncoder.Message message, long offset, boolean checksum) throws IOException {
		MessagePieces sizes = new MessagePieces(offset, message.length());
		List<List<ByteBuffer>> pieces = pieces(message, sizes);
		if (checksum) {
			return writeWithChecksum(new MessageChecksum(sizes), pieces);
		}
		for (List<ByteBuffer> piece : pieces) {
			this.output.write(piece.toArray(new ByteBuffer[0]));
		}
		return 0;
	}

	private int writeWithChecksum(MessageChecksum checksum, List<List<ByteBuffer>> pieces) throws IOException {
		MessageChecksum.Content content = (crc, piece) -> update(crc, pieces.get(piece));
		try {
			if (pieces.size() > 1) {
				this.spareThreads.offer(() -> checksum.help(content, pieces.size()));
			}
			for (List<ByteBuffer> piece : pieces) {
				this.output.write(piece.stream().map(ByteBuffer::duplicate).toArray(ByteBuffer[]::new));
				// Not before: a helper comes while the first piece is written, and has
				// the others done before these are.
				if (!checksum.isHelped()) {
					checksum.next(content);
				}
			}
			return checksum.value(content);
		}
		finally {
			checksum.stop();
		}
	}

	private static void update(CRC32 crc, List<ByteBuffer> piece) {
		piece.forEach((part) -> crc.update(part.duplicate()));
	}

	private static List<List<ByteBuffer>> pieces(IpcEncoder.Message message, MessagePieces sizes) {
		List<List<ByteBuffer>> pieces = new ArrayList<>(sizes.count());
		List<ByteBuffer> piece = List.of();
		int room = 0;
		for (ByteBuffer buffer : message.buffers()) {
			int position = buffer.position();
			while (position < buffer.limit()) {
				if (room == 0) {
					room = sizes.length(pieces.size());
					piece = new ArrayList<>();
					pieces.add(piece);
				}
				int length = Math.min(room, buffer.limit() - position);
				piece.add(buffer.slice(position, length));
				position += length;
				room -= length;
			}
		}
		return pieces;
	}

	/**
	 * Takes a piece; done with it when it returns.
	 */
	@FunctionalInterface
	interface Output {

		void write(ByteBuffer[] piece) throws IOException;

	}

}
