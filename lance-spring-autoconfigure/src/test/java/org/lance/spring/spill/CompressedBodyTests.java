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
import java.util.List;
import java.util.Map;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.stream.IpcEncoder;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that a compressed body is believed nothing, also where its checksum is right.
 */
class CompressedBodyTests {

	private static final int ROWS = 1000;

	private static final int VALIDITY = 128;

	private static final int UNCOMPRESSED = VALIDITY + ROWS * Long.BYTES;

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private ArrowBuf bytes;

	private FileIndex.Position position;

	@BeforeEach
	void encode() {
		SpillFormat format = new SpillFormat(SpillCompression.zstd(1), false);
		try (MessageEncoder encoder = new MessageEncoder(Batches.SCHEMA, format, this.engine.allocator(), () -> 0);
				RecordBatch batch = new Batches(this.engine.allocator()).rows(ROWS, 5)) {
			encoder.schema(Map.of());
			IpcEncoder.Message message = encoder.batch(batch);
			this.position = new FileIndex.Position(0, message.metadataLength(), message.bodyLength(),
					message.uncompressedLength(), false, 0);
			this.bytes = this.engine.allocator().buffer(message.length());
			long at = 0;
			for (ByteBuffer buffer : message.buffers()) {
				this.bytes.setBytes(at, buffer.duplicate());
				at += buffer.remaining();
			}
		}
	}

	@AfterEach
	void close() {
		this.bytes.close();
	}

	private MessageBytes decompress(FileIndex.Position where, BufferAllocator allocator) throws DamagedException {
		return new MessageBytes(this.bytes.memoryAddress(), where, where.length(), () -> {
		}).decompress(allocator);
	}

	private MessageBytes decompress(FileIndex.Position where) throws DamagedException {
		return decompress(where, this.engine.allocator());
	}

	private void assertDamaged(FileIndex.Position where) {
		try (BufferAllocator nothing = this.engine.allocator().newChildAllocator("nothing", 0, 0)) {
			assertThatExceptionOfType(DamagedException.class).isThrownBy(() -> decompress(where, nothing));
		}
	}

	private FileIndex.Position uncompressedTo(long length) {
		return new FileIndex.Position(0, this.position.metadataLength(), this.position.bodyLength(), length, false, 0);
	}

	@Test
	void aBodyIsDecompressedIntoOneAllocation() throws Exception {
		assertThat(this.position.uncompressedLength()).isEqualTo(UNCOMPRESSED);
		MessageBytes plain = decompress(this.position);
		assertThat(plain.length()).isEqualTo(this.position.metadataLength() + UNCOMPRESSED);
		assertThat(plain.decompressed().lengths()).containsExactly(125, ROWS * Long.BYTES);
		plain.release().run();
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, 1, 133, 1L << 40, Long.MAX_VALUE, Long.MIN_VALUE, -2 })
	void whenALengthIsALieThenNothingIsAllocated(long lie) {
		long prefix = this.position.metadataLength();
		assertThat(this.bytes.getLong(prefix)).isEqualTo(125);
		this.bytes.setLong(prefix, lie);
		assertDamaged(this.position);
	}

	@Test
	void whenTwoLiesCancelEachOtherOutThenNothingIsAllocated() {
		long prefix = this.position.metadataLength();
		long second = prefix + 8;
		while (this.bytes.getLong(second) != ROWS * Long.BYTES) {
			second += 8;
		}
		this.bytes.setLong(prefix, -1024);
		this.bytes.setLong(second, UNCOMPRESSED + 1024);
		assertDamaged(this.position);
	}

	@Test
	void whenTheIndexSaysAnotherSumThenNothingIsAllocated() {
		for (long other : List.of(UNCOMPRESSED - 8L, UNCOMPRESSED + 8L, 8L, 1L << 50)) {
			assertDamaged(uncompressedTo(other));
		}
	}

	@Test
	void whenALengthDiffersFromWhatItsFrameHasThenTheMemoryIsGivenBack() {
		// Padded it is as long as before, so that only the frame can tell.
		this.bytes.setLong(this.position.metadataLength(), 126);
		long before = this.engine.allocator().getAllocatedMemory();
		assertThatExceptionOfType(DamagedException.class).isThrownBy(() -> decompress(this.position))
			.withMessageContaining("125");
		this.bytes.setLong(this.position.metadataLength(), 125);
		this.bytes.setLong(this.position.metadataLength() + 8, 0);
		assertThatExceptionOfType(DamagedException.class).isThrownBy(() -> decompress(this.position))
			.withMessageContaining("can't be decompressed");
		assertThat(this.engine.allocator().getAllocatedMemory()).isEqualTo(before);
	}

	@Test
	void whenTheMetadataAreGarbageThenNothingIsAllocated() {
		this.bytes.setZero(8, this.position.metadataLength() - 8);
		assertDamaged(this.position);
		this.bytes.setOne(8L, this.position.metadataLength() - 8);
		assertDamaged(this.position);
	}

}
