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

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.lance.spring.stream.IpcEncoder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PlainOutput}.
 */
class PlainOutputTests {

	private static final int SIZE = MessagePieces.SIZE;

	private static final int LENGTH = 4 * SIZE + 12_345;

	private final byte[] content = new byte[LENGTH];

	/**
	 * Where writes start in the file.
	 */
	private final List<Long> starts = new ArrayList<>();

	private final ByteArrayOutputStream file = new ByteArrayOutputStream();

	private int helped;

	private final Deque<Runnable> offers = new ArrayDeque<>();

	private final SpareThreads spareThreads = new SpareThreads(this.offers::add, 1, System::nanoTime);

	/**
	 * A message of many buffers, of which some are empty and some longer than a piece.
	 */
	private IpcEncoder.Message message() {
		new Random(1).nextBytes(this.content);
		List<ByteBuffer> buffers = new ArrayList<>();
		int position = 0;
		for (int length : new int[] { 8, 0, 1000, SIZE + 77, 0, 300_000, 5, SIZE }) {
			buffers.add(ByteBuffer.wrap(this.content, position, length).slice());
			position += length;
		}
		buffers.add(ByteBuffer.wrap(this.content, position, LENGTH - position));
		return new IpcEncoder.Message(buffers, 0, LENGTH, LENGTH);
	}

	private int write(long offset, boolean checksum) throws IOException {
		return new PlainOutput((piece) -> {
			this.starts.add(offset + this.file.size());
			for (ByteBuffer part : piece) {
				byte[] bytes = new byte[part.remaining()];
				part.get(bytes);
				this.file.writeBytes(bytes);
			}
			if (!this.offers.isEmpty()) {
				this.helped++;
				this.offers.remove().run();
			}
		}, this.spareThreads).write(message(), offset, checksum);
	}

	@ParameterizedTest
	@CsvSource({ "0, true", "0, false", "8, true", "8, false", "1999999, true", "1999999, false" })
	void writesEndWhereTheFileHasAMultipleOfTheSizeOfPieces(long offset, boolean checksum) throws Exception {
		write(offset, checksum);
		assertThat(this.file.toByteArray()).isEqualTo(this.content);
		assertThat(this.starts).hasSizeBetween(4, 5).first().isEqualTo(offset);
		assertThat(this.starts.subList(1, this.starts.size())).allMatch((start) -> start % SIZE == 0);
	}

	@ParameterizedTest
	@CsvSource({ "0", "8", "1999999" })
	void theChecksumIsTheSameWithHelp(long offset) throws Exception {
		int checksum = write(offset, true);
		assertThat(this.helped).isOne();
		this.file.reset();
		int alone = new PlainOutput((piece) -> {
		}, SpareThreads.NONE).write(message(), offset, true);
		MessagePieces pieces = new MessagePieces(offset, LENGTH);
		int read = new MessageChecksum(pieces)
			.value((crc, piece) -> crc.update(this.content, (int) pieces.start(piece), pieces.length(piece)));
		assertThat(checksum).isEqualTo(alone).isEqualTo(read);
	}

}
