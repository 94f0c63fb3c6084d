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

import java.util.zip.CRC32;

/**
 * The checksum of a message of a spill file: the CRC-32 of each piece of it, and of these
 * if there is more than one. It is kept in memory, outside the file, so nothing but this
 * class knows which one it is: CRC-32 finds what CRC-32C finds in messages of this size,
 * and JDKs compute it two to three times as fast where processors multiply without carry
 * in wide registers.
 * <p>
 * Two threads can compute it: the owner, who needs it, from the front, and a helper from
 * the back. The owner never waits for the helper to come or to go on, only until it is
 * done with the piece that it is at.
 */
final class MessageChecksum {

	/**
	 * How often to look whether the helper is done with its piece before the owner is
	 * suspended: to be woken takes longer than a piece does.
	 */
	private static final int SPINS = 2000;

	private final int[] pieces;

	/**
	 * The first piece that nobody has taken; guarded by this.
	 */
	private int first;

	/**
	 * The end of the pieces that nobody has taken; guarded by this.
	 */
	private int end;

	/**
	 * Held by the helper while it works on a piece.
	 */
	private final Object helping = new Object();

	/**
	 * Whether the helper is at a piece.
	 */
	private volatile boolean busy;

	/**
	 * Creates a checksum of which nothing is computed.
	 * @param pieces the pieces of the message
	 */
	MessageChecksum(MessagePieces pieces) {
		this.pieces = new int[pieces.count()];
		this.end = this.pieces.length;
	}

	/**
	 * Computes the next piece from the front, if one is left; for the owner.
	 * @return whether one was left
	 */
	boolean next(Content content) {
		int index = takeFirst();
		if (index >= 0) {
			this.pieces[index] = compute(index, content);
		}
		return index >= 0;
	}

	/**
	 * Tells whether a helper has come.
	 */
	synchronized boolean isHelped() {
		return this.end < this.pieces.length;
	}

	/**
	 * Computes pieces from the back until all are taken; for the helper.
	 * @param content the bytes; not touched any more when {@link #value} or {@link #stop}
	 * has returned
	 * @param max how many pieces to compute at most
	 * @return how many were computed; fewer if no more are left
	 */
	int help(Content content, int max) {
		for (int count = 0; count < max; count++) {
			synchronized (this.helping) {
				int index = takeLast();
				if (index < 0) {
					return count;
				}
				helpWith(index, content);
			}
		}
		return max;
	}

	private void helpWith(int index, Content content) {
		this.busy = true;
		try {
			this.pieces[index] = compute(index, content);
		}
		catch (Throwable ex) {
			// The owner will see what is wrong with it.
			putBack(index);
			throw ex;
		}
		finally {
			this.busy = false;
		}
	}

	private synchronized void putBack(int index) {
		this.end = index + 1;
	}

	private synchronized int takeFirst() {
		return (this.first < this.end) ? this.first++ : -1;
	}

	private synchronized int takeLast() {
		return (this.first < this.end) ? --this.end : -1;
	}

	private static int compute(int index, Content content) {
		CRC32 crc = new CRC32();
		content.update(crc, index);
		return (int) crc.getValue();
	}

	/**
	 * Computes what is left; for the owner.
	 * @return the checksum
	 */
	int value(Content content) {
		do {
			while (next(content)) {
				// Its bytes are counted.
			}
			awaitHelper();
		}
		while (isLeft());
		if (this.pieces.length == 1) {
			return this.pieces[0];
		}
		CRC32 all = new CRC32();
		for (int piece : this.pieces) {
			for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
				all.update(piece >>> shift);
			}
		}
		return (int) all.getValue();
	}

	/**
	 * Ends the help.
	 */
	void stop() {
		synchronized (this) {
			this.end = Math.min(this.end, this.first);
		}
		awaitHelper();
	}

	private void awaitHelper() {
		for (int i = 0; this.busy && i < SPINS; i++) {
			Thread.onSpinWait();
		}
		synchronized (this.helping) {
			// It is at no piece now.
		}
	}

	private synchronized boolean isLeft() {
		return this.first < this.end;
	}

	/**
	 * The bytes of a message.
	 */
	@FunctionalInterface
	interface Content {

		/**
		 * Adds the bytes of a piece to a checksum. Called by two threads at a time.
		 */
		void update(CRC32 crc, int piece);

	}

}
