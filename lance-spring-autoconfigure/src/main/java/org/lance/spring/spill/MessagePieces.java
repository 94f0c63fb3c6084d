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

/**
 * The pieces in which a message of a spill file is written, verified and brought into a
 * mapping. They end where the file has a multiple of {@link #SIZE}, so that the system
 * can keep them in large pages of its own: fewer faults, and less to unmap.
 *
 * @param offset where the message starts in the file
 * @param length its bytes
 */
record MessagePieces(long offset, long length) {

	/**
	 * The bytes of a piece, but for the first and the last one of a message.
	 */
	static final int SIZE = 1 << 20;

	/**
	 * Fewer bytes than that at the start or end are no piece of their own: what is done
	 * for each piece takes as long as so many bytes.
	 */
	private static final int MIN_SIZE = SIZE / 4;

	/**
	 * Returns how many there are.
	 */
	int count() {
		long last = (this.offset + this.length - MIN_SIZE) / SIZE;
		return Math.toIntExact(Math.max(last - secondStart() + 1, 0) + 1);
	}

	/**
	 * Returns where a piece starts, within the message.
	 */
	long start(int piece) {
		return (piece == 0) ? 0 : (secondStart() + piece - 1) * SIZE - this.offset;
	}

	/**
	 * Returns how many bytes a piece has.
	 */
	int length(int piece) {
		long end = (piece == count() - 1) ? this.length : start(piece + 1);
		return (int) (end - start(piece));
	}

	/**
	 * Where the second piece starts in the file, in pieces.
	 */
	private long secondStart() {
		return (this.offset + MIN_SIZE + SIZE - 1) / SIZE;
	}

}
