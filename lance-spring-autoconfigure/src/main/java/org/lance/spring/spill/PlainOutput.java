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

import org.lance.spring.stream.IpcEncoder;

/**
 * Writes messages as they are, from the memory of their batch, and computes their
 * checksums meanwhile.
 * <p>
 * In pieces: a piece is still in the processor's cache when it is written, right after
 * its checksum, and file systems serve writes of several megabytes at once more slowly
 * than those of one.
 */
final class PlainOutput {

	/**
	 * The bytes that are written at once.
	 */
	private static final int PIECE = 1 << 20;

	private final Output output;

	PlainOutput(Output output) {
		this.output = output;
	}

	/**
	 * Writes a message.
	 * @return its checksum
	 */
	int write(IpcEncoder.Message message) throws IOException {
		MessageChecksum checksum = new MessageChecksum();
		List<ByteBuffer> piece = new ArrayList<>(message.buffers().size());
		int room = PIECE;
		for (ByteBuffer buffer : message.buffers()) {
			int position = buffer.position();
			while (position < buffer.limit()) {
				int length = Math.min(room, buffer.limit() - position);
				ByteBuffer part = buffer.slice(position, length);
				checksum.update(part.duplicate());
				piece.add(part);
				position += length;
				room -= length;
				if (room == 0) {
					this.output.write(piece);
					piece.clear();
					room = PIECE;
				}
			}
		}
		if (!piece.isEmpty()) {
			this.output.write(piece);
		}
		return checksum.value();
	}

	/**
	 * Takes a piece; done with it when it returns.
	 */
	@FunctionalInterface
	interface Output {

		void write(List<ByteBuffer> piece) throws IOException;

	}

}
