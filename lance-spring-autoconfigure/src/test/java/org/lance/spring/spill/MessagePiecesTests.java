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

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link MessagePieces}.
 */
class MessagePiecesTests {

	private static final long SIZE = MessagePieces.SIZE;

	private static final long[] LENGTHS = { 0, 1, SIZE / 8, SIZE / 2, SIZE, SIZE + 1, SIZE + SIZE / 4, 3 * SIZE / 2,
			2 * SIZE - 1, 4 * SIZE + 7, 9 * SIZE, 5000 * SIZE + 3 };

	@ParameterizedTest
	@ValueSource(longs = { 0, 1, SIZE / 4 - 1, SIZE / 4, SIZE / 4 + 1, SIZE / 2, 3 * SIZE / 4, SIZE - 1, SIZE, SIZE + 8,
			(1L << 40) - 8, 1L << 40 })
	void theyFollowEachOtherAndNoneIsSmallOrLarge(long offset) {
		for (long length : LENGTHS) {
			MessagePieces pieces = new MessagePieces(offset, length);
			long end = 0;
			for (int i = 0; i < pieces.count(); i++) {
				assertThat(pieces.start(i)).isEqualTo(end);
				assertThat((long) pieces.length(i)).as("piece %d of %s", i, pieces)
					.isBetween(Math.min(length, SIZE / 4), 3 * SIZE / 2);
				end += pieces.length(i);
			}
			assertThat(end).as(pieces.toString()).isEqualTo(length);
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, 1, SIZE / 3, SIZE - 8, SIZE, 7 * SIZE + 64 })
	void theyEndWhereTheFileHasAMultipleOfTheirSize(long offset) {
		MessagePieces pieces = new MessagePieces(offset, 9 * SIZE + 500);
		assertThat(pieces.count()).isBetween(9, 10);
		for (int i = 1; i < pieces.count(); i++) {
			assertThat((offset + pieces.start(i)) % SIZE).as("piece %d", i).isZero();
		}
	}

}
