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

package org.lance.spring.stream;

import java.nio.ByteBuffer;
import java.util.List;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.ReferenceManager;
import org.apache.arrow.memory.util.MemoryUtil;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class BodyEncoderTests {

	private static final long GIB = 1L << 30;

	/**
	 * The memory is never touched, so it need not exist.
	 */
	@Test
	void buffersThatAreTooLargeForAByteBufferAreSplit() {
		long address = MemoryUtil.getByteBufferAddress(ByteBuffer.allocateDirect(8));
		ArrowBuf large = new ArrowBuf(ReferenceManager.NO_OP, null, 3 * GIB + 5, address);
		large.writerIndex(3 * GIB + 5);
		List<ByteBuffer> buffers = BodyEncoder.buffers(SealedBuffers.body(0, List.of(), List.of(large), null));
		assertThat(buffers).extracting(ByteBuffer::remaining).containsExactly((int) GIB, (int) GIB, (int) GIB, 5, 3);
		assertThat(MemoryUtil.getByteBufferAddress(buffers.get(3))).isEqualTo(address + 3 * GIB);
	}

	@Test
	void theHeadSaysTheLengthOfThePaddedMetadata() {
		ByteBuffer head = BodyEncoder.head(ByteBuffer.wrap(new byte[] { 1, 2, 3 }));
		assertThat(head.array()).containsExactly(-1, -1, -1, -1, 8, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0);
	}

}
