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
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.zip.CRC32;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link MessageChecksum}.
 */
@Timeout(30)
class MessageChecksumTests {

	private static final int PIECE = MessagePieces.SIZE;

	private static final int ALL = Integer.MAX_VALUE;

	private static byte[] message(int length) {
		byte[] message = new byte[length];
		new Random(length).nextBytes(message);
		return message;
	}

	private static MessagePieces pieces(long length) {
		return new MessagePieces(0, length);
	}

	private static MessageChecksum.Content content(byte[] message) {
		MessagePieces pieces = pieces(message.length);
		return (crc, piece) -> crc.update(message, (int) pieces.start(piece), pieces.length(piece));
	}

	private static int checksum(byte[] message) {
		return new MessageChecksum(pieces(message.length)).value(content(message));
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, PIECE - 1, PIECE, PIECE + 1, 4 * PIECE, 4 * PIECE + 7, 4 * PIECE + PIECE / 2 })
	void itIsTheSameWhoeverComputesWhichPieces(int length) {
		byte[] message = message(length);
		int expected = checksum(message);
		int pieces = pieces(length).count();
		for (int helped = 0; helped <= pieces; helped++) {
			for (int before = 0; before + helped <= pieces; before++) {
				MessageChecksum checksum = new MessageChecksum(pieces(length));
				for (int i = 0; i < before; i++) {
					assertThat(checksum.next(content(message))).isTrue();
				}
				help(checksum, message, helped);
				assertThat(checksum.value(content(message))).as("%d helped after %d", helped, before)
					.isEqualTo(expected);
			}
		}
	}

	/**
	 * Helps with a number of pieces, and fails at the next one.
	 */
	private static void help(MessageChecksum checksum, byte[] message, int pieces) {
		AtomicInteger left = new AtomicInteger(pieces);
		try {
			checksum.help((crc, piece) -> {
				if (left.getAndDecrement() == 0) {
					throw new IllegalStateException("that is enough");
				}
				content(message).update(crc, piece);
			}, ALL);
		}
		catch (IllegalStateException ex) {
			assertThat(ex).hasMessage("that is enough");
		}
	}

	@Test
	void aSinglePieceHasItsCrc() {
		byte[] message = message(1000);
		CRC32 crc = new CRC32();
		crc.update(message);
		assertThat(checksum(message)).isEqualTo((int) crc.getValue());
	}

	@Test
	void everyPieceAndTheirOrderCount() {
		byte[] message = message(3 * PIECE + 100);
		Set<Integer> checksums = new HashSet<>(Set.of(checksum(message)));
		MessagePieces pieces = pieces(message.length);
		for (int piece = 0; piece < pieces.count(); piece++) {
			int start = (int) pieces.start(piece);
			for (int each : List.of(start, start + pieces.length(piece) - 1)) {
				byte[] changed = message.clone();
				changed[each] ^= 1;
				assertThat(checksums.add(checksum(changed))).as("byte %d", each).isTrue();
			}
		}
		byte[] swapped = message.clone();
		System.arraycopy(message, 0, swapped, PIECE, PIECE);
		System.arraycopy(message, PIECE, swapped, 0, PIECE);
		assertThat(checksums.add(checksum(swapped))).isTrue();
	}

	@Test
	void noPieceIsComputedTwice() throws Exception {
		for (int i = 0; i < 200; i++) {
			AtomicIntegerArray counts = new AtomicIntegerArray(40);
			MessageChecksum checksum = new MessageChecksum(pieces(40L * PIECE));
			Thread helper = new Thread(() -> checksum.help((crc, piece) -> counts.incrementAndGet(piece), 40));
			helper.start();
			checksum.value((crc, piece) -> counts.incrementAndGet(piece));
			for (int piece = 0; piece < 40; piece++) {
				assertThat(counts.get(piece)).as("piece %d", piece).isOne();
			}
			helper.join();
		}
	}

	@Test
	void theHelperComputesAsManyAsItIsAskedFor() {
		List<Integer> pieces = new ArrayList<>();
		MessageChecksum checksum = new MessageChecksum(pieces(5L * PIECE));
		MessageChecksum.Content content = (crc, piece) -> pieces.add(piece);
		assertThat(checksum.help(content, 2)).isEqualTo(2);
		assertThat(checksum.help(content, 0)).isZero();
		assertThat(checksum.help(content, 7)).isEqualTo(3);
		assertThat(pieces).containsExactly(4, 3, 2, 1, 0);
	}

	@Test
	void whatFailsAtTheHelperIsComputedByTheOwner() {
		byte[] message = message(2 * PIECE);
		MessageChecksum checksum = new MessageChecksum(pieces(message.length));
		assertThatIllegalStateException().isThrownBy(() -> checksum.help((crc, piece) -> {
			throw new IllegalStateException("unreadable");
		}, ALL));
		assertThat(checksum.value(content(message))).isEqualTo(checksum(message));
	}

	@Test
	void theOwnerWaitsForThePieceThatTheHelperIsAt() throws Exception {
		byte[] message = message(2 * PIECE);
		Gate gate = new Gate();
		MessageChecksum checksum = new MessageChecksum(pieces(message.length));
		Thread helper = new Thread(() -> checksum.help((crc, piece) -> {
			gate.pass();
			content(message).update(crc, piece);
		}, ALL));
		helper.start();
		gate.awaitArrival();
		AtomicInteger value = new AtomicInteger();
		Thread owner = new Thread(() -> value.set(checksum.value(content(message))));
		owner.start();
		awaitBlocked(owner);
		gate.open();
		owner.join();
		helper.join();
		assertThat(value.get()).isEqualTo(checksum(message));
	}

	/**
	 * Waits until a thread can't go on.
	 */
	private static void awaitBlocked(Thread thread) {
		while (thread.getState() != Thread.State.BLOCKED) {
			assertThat(thread.isAlive()).isTrue();
			Thread.onSpinWait();
		}
	}

	@Test
	void theHelperTouchesNothingAfterItWasStopped() throws Exception {
		Gate gate = new Gate();
		List<Integer> done = new ArrayList<>();
		MessageChecksum checksum = new MessageChecksum(pieces(8L * PIECE));
		Thread helper = new Thread(() -> checksum.help((crc, piece) -> {
			gate.pass();
			done.add(piece);
		}, ALL));
		helper.start();
		gate.awaitArrival();
		Thread owner = new Thread(checksum::stop);
		owner.start();
		awaitBlocked(owner);
		gate.open();
		owner.join();
		helper.join();
		assertThat(done).containsExactly(7);
	}

}
