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

import org.jspecify.annotations.Nullable;
import org.lance.spring.spill.SpillSnapshot.State;

/**
 * The state of a spill and its transitions, without what they cause: no stages, no memory
 * and no files. Guarded by the lock of its {@link SpillCore}.
 */
final class SpillState {

	private final String name;

	private State state = State.IN_MEMORY;

	/**
	 * Why nothing can be read or written any more; the same failure for everybody.
	 */
	private volatile @Nullable SpillException ending;

	private int batches;

	private long rows;

	/**
	 * Whether a write or the finish is not complete.
	 */
	private boolean writing;

	/**
	 * Whether the batches are moved to disk to make room for other spills.
	 */
	private boolean moving;

	private boolean senderDone;

	private int readers;

	/**
	 * File calls queued or running; the file is deleted after the last one.
	 */
	private int calls;

	private boolean cleaning;

	private boolean gone;

	private boolean busy = true;

	SpillState(String name) {
		this.name = name;
	}

	State state() {
		return this.state;
	}

	int batches() {
		return this.batches;
	}

	long rows() {
		return this.rows;
	}

	int readers() {
		return this.readers;
	}

	/**
	 * Why the spill has ended, or {@code null} if it has not; may be asked without the
	 * lock.
	 */
	@Nullable SpillException ending() {
		return this.ending;
	}

	/**
	 * Why the sender may not write or finish now.
	 */
	@Nullable RuntimeException refusal() {
		SpillException why = this.ending;
		if (why != null) {
			return why.again((this.state == State.FAILED) ? "already failed: " + why.detail() : why.detail());
		}
		if (this.senderDone) {
			return new IllegalStateException("Spill '%s' is finished and takes nothing more".formatted(this.name));
		}
		if (this.writing) {
			return new IllegalStateException(
					"The last write to spill '%s' is not complete; a sender takes one call at a time"
						.formatted(this.name));
		}
		return null;
	}

	/**
	 * The sender calls.
	 * @param finish whether it says that the stream is complete
	 */
	void senderCalls(boolean finish) {
		this.writing = true;
		this.senderDone |= finish;
	}

	/**
	 * The call of the sender is complete.
	 */
	void senderCalled() {
		this.writing = false;
	}

	/**
	 * A batch goes to the file, and all before it if they are in memory.
	 */
	void writeToFile() {
		if (this.state == State.IN_MEMORY) {
			this.state = State.SWITCHING;
		}
		this.calls++;
	}

	/**
	 * The end goes to the file.
	 */
	void finishFile() {
		this.calls++;
	}

	/**
	 * The sender's file call ended.
	 * @return whether it still matters
	 */
	boolean writeEnded() {
		this.calls--;
		return this.ending == null;
	}

	/**
	 * Tells whether all batches are in memory and could be moved to disk for others.
	 */
	boolean canMove() {
		return this.ending == null && !this.moving && (this.state == State.IN_MEMORY || this.state == State.FINISHED);
	}

	boolean isMoving() {
		return this.moving;
	}

	/**
	 * All batches go to a file, to make room for other spills.
	 */
	void moveBegins() {
		this.moving = true;
		if (this.state == State.IN_MEMORY) {
			this.state = State.SWITCHING;
		}
		this.calls++;
	}

	/**
	 * The move ended.
	 * @return whether that still matters
	 */
	boolean moveEnded() {
		this.moving = false;
		this.calls--;
		return this.ending == null;
	}

	/**
	 * There is no file after all.
	 */
	void stayInMemory() {
		if (this.state == State.SWITCHING) {
			this.state = State.IN_MEMORY;
		}
	}

	/**
	 * A batch is there for readers.
	 */
	void committed(int batchRows) {
		this.batches++;
		this.rows += batchRows;
	}

	/**
	 * The file has all batches.
	 * @return whether they were in memory until now
	 */
	boolean switched() {
		boolean now = this.state == State.SWITCHING;
		if (now) {
			this.state = State.ON_DISK;
		}
		return now;
	}

	/**
	 * All is written.
	 */
	void finished() {
		this.state = State.FINISHED;
	}

	boolean isSenderDone() {
		return this.senderDone;
	}

	/**
	 * Ends the spill, unless it has ended before.
	 */
	boolean end(State to, SpillException why) {
		if (this.ending != null) {
			return false;
		}
		this.state = to;
		this.ending = why;
		this.senderDone = true;
		return true;
	}

	void readBegins() {
		this.calls++;
	}

	void readEnded() {
		this.calls--;
	}

	void readerOpened() {
		this.readers++;
	}

	void readerClosed() {
		this.readers--;
	}

	/**
	 * Tells, once, that memory and file can be given back: the spill has ended and no
	 * file call is in progress.
	 */
	boolean beginCleanUp() {
		if (this.ending == null || this.calls > 0 || this.cleaning) {
			return false;
		}
		this.cleaning = true;
		return true;
	}

	/**
	 * Nothing is held any more.
	 */
	void gone() {
		this.gone = true;
	}

	/**
	 * Whether the spill is being written, read or given back.
	 */
	boolean isBusy() {
		return this.busy;
	}

	/**
	 * Finds out anew whether the spill is busy.
	 * @return whether that changed
	 */
	boolean updateBusy() {
		boolean before = this.busy;
		this.busy = !this.gone && (this.state != State.FINISHED || this.readers > 0);
		return before != this.busy;
	}

}
