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

import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.apache.arrow.vector.types.pojo.Field;
import org.jspecify.annotations.Nullable;
import org.lance.spring.spill.SpillMemory.Fit;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.EngineThreads;
import org.lance.spring.stream.RecordBatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The writing half of a spill: finds out where the batch of a {@link SenderCall} goes,
 * and moves what is in memory to disk, for it or to make room for other spills. Works
 * under the lock of its {@link SpillCore}.
 */
final class SpillWriter {

	private static final Logger logger = LoggerFactory.getLogger(SpillWriter.class);

	private static final long MOVE_RETRY_NANOS = Duration.ofSeconds(10).toNanos();

	private final SpillCore core;

	private final Object lock;

	private final SpillState state;

	private final SpillMemory memory;

	private final SpillDisk disk;

	private final DictionaryFields fields;

	private final SpillPolicy policy;

	private final SpillOwner owner;

	/**
	 * The call of the sender that is not complete.
	 */
	private @Nullable SenderCall call;

	/**
	 * The move to disk for others; the last one that was begun.
	 */
	private @Nullable CompletableFuture<Void> move;

	/**
	 * When the last move failed that was tried, by {@link System#nanoTime()}; 0 if none
	 * did. It is not tried again for a while.
	 */
	private volatile long moveFailed;

	SpillWriter(SpillCore core, Object lock, SpillState state, SpillMemory memory, SpillDisk disk,
			DictionaryFields fields, SpillPolicy policy, SpillOwner owner) {
		this.core = core;
		this.lock = lock;
		this.state = state;
		this.memory = memory;
		this.disk = disk;
		this.fields = fields;
		this.policy = policy;
		this.owner = owner;
	}

	CompletionStage<Void> write(RecordBatch batch) {
		CompletableFuture<Void> result = EngineThreads.newFuture();
		RecordBatch held;
		try {
			this.fields.check(batch);
			held = this.memory.compact(batch.withSchema(this.core.schema()));
		}
		catch (Throwable ex) {
			result.completeExceptionally(ex);
			return result;
		}
		begin(new SenderCall(held, result));
		return result;
	}

	CompletionStage<Void> finish() {
		CompletableFuture<Void> result = EngineThreads.newFuture();
		begin(new SenderCall(null, result));
		return result;
	}

	private void begin(SenderCall next) {
		Effects effects = new Effects();
		synchronized (this.lock) {
			RuntimeException refusal = this.state.refusal();
			if (refusal != null) {
				effects.add(next::closeBatch);
				next.result.completeExceptionally(refusal);
			}
			else {
				this.state.senderCalls(next.batch == null);
				this.call = next;
				if (next.batch != null) {
					this.fields.learn(next.batch.dictionaries());
				}
				proceedOrFail(next, effects);
				next.returned = true;
			}
		}
		effects.run();
	}

	/**
	 * What goes wrong here is an answer too: others may wait for what comes after it.
	 */
	private void proceedOrFail(SenderCall current, Effects effects) {
		try {
			proceed(current, effects);
		}
		catch (Throwable ex) {
			this.core.fail(new SpillIoException(this.core.name(), "the batch can't be kept: " + ex, ex), effects);
		}
	}

	/**
	 * Brings a call on its way, from wherever the spill is now.
	 */
	private void proceed(SenderCall current, Effects effects) {
		if (this.state.isMoving()) {
			return;
		}
		RecordBatch batch = current.batch;
		boolean inMemory = this.state.state() == State.IN_MEMORY;
		if (batch == null) {
			if (inMemory) {
				finished(current, effects);
			}
			else {
				current.onItsWay = true;
				this.state.finishFile();
				effects.add(() -> this.disk.finish((failure) -> endWritten(current, failure)));
			}
			return;
		}
		if (!inMemory) {
			writeToFile(current, batch, Collections.emptyIterator(), effects);
			return;
		}
		switch (this.memory.tryAdd(batch)) {
			case ADDED -> committed(current, effects);
			case OVER_LIMIT -> leaveMemory(current, batch, Fit.OVER_LIMIT, effects);
			case BUDGET_SHORT -> effects.add(() -> awaitRoom(current, batch));
		}
	}

	/**
	 * The spill that holds most makes room, be it this one.
	 */
	private void awaitRoom(SenderCall current, RecordBatch batch) {
		boolean mayLeave = this.policy.mode() == SpillMode.SPILL;
		CompletionStage<?> room = null;
		synchronized (this.lock) {
			if (!isAtHand(current)) {
				return;
			}
		}
		if (current.mayWait()) {
			try {
				room = this.owner.makeRoom(this.core, mayLeave ? this.memory.bytes() + batch.memorySize() : 0);
			}
			catch (RuntimeException ex) {
				// The sender must get an answer; without room, this spill is the one to
				// go.
				logger.warn("No other spill could be asked to make room", ex);
			}
		}
		if (room != null) {
			room.whenComplete((moved, failure) -> roomMade(current, batch, true));
		}
		else {
			roomMade(current, batch, false);
		}
	}

	private void roomMade(SenderCall current, RecordBatch batch, boolean tryAgain) {
		Effects effects = new Effects();
		synchronized (this.lock) {
			if (isAtHand(current)) {
				if (tryAgain || this.state.state() != State.IN_MEMORY) {
					proceedOrFail(current, effects);
				}
				else {
					leaveMemory(current, batch, Fit.BUDGET_SHORT, effects);
				}
			}
		}
		effects.run();
	}

	/**
	 * Tells whether a call still waits for a decision here. Otherwise the spill has ended
	 * meanwhile, or it moves itself and goes on then, or did so and the disk has the
	 * batch.
	 */
	private boolean isAtHand(SenderCall current) {
		return this.call == current && !current.onItsWay && !this.state.isMoving();
	}

	private void leaveMemory(SenderCall current, RecordBatch batch, Fit why, Effects effects) {
		if (this.policy.mode() == SpillMode.FAIL) {
			this.core.fail(rejected(batch, why), effects);
		}
		else {
			writeToFile(current, batch, this.memory.contents(), effects);
		}
	}

	private SpillException rejected(RecordBatch batch, Fit why) {
		String limit = (why == Fit.OVER_LIMIT)
				? "the limit of %d bytes. Raise lance.spill.memory-limit".formatted(this.memory.limit())
				: "what all spills together may hold. Raise lance.spill.total-memory-limit";
		return new SpillRejectedException(this.core.name(),
				"it holds %d bytes in memory, and a batch of up to %d more exceeds %s, or let it go to disk with lance.spill.mode=spill"
					.formatted(this.memory.bytes(), batch.memorySize(), limit),
				null);
	}

	/**
	 * Sends a batch to the file.
	 * @param before the batches that are in memory until now; readers go on there until
	 * the file has everything
	 */
	private void writeToFile(SenderCall current, RecordBatch batch, Iterator<RecordBatch> before, Effects effects) {
		current.onItsWay = true;
		this.state.writeToFile();
		Map<Long, Field> dictionaryFields = this.fields.get();
		effects.add(() -> this.disk.append(this.core.schema(), dictionaryFields, new OneMore(before, batch),
				() -> !this.core.isEnded(), (failure) -> appended(current, batch, failure)));
	}

	private void appended(SenderCall current, RecordBatch batch, @Nullable SpillException failure) {
		Effects effects = new Effects();
		synchronized (this.lock) {
			current.onItsWay = false;
			if (!this.state.writeEnded() || this.call != current) {
				effects.add(batch::close);
				this.core.cleanUpIfPossible(effects);
			}
			else if (failure == null) {
				if (this.state.switched()) {
					effects.add(this.memory.clear());
				}
				effects.add(batch::close);
				committed(current, effects);
			}
			else if (mayStay(failure) && this.memory.addBeyondLimit(batch) == Fit.ADDED) {
				this.state.stayInMemory();
				effects.add(() -> this.disk.warnOfUnusableDirectory(failure));
				committed(current, effects);
			}
			else {
				this.core.fail(failure, effects);
			}
		}
		effects.run();
	}

	private void committed(SenderCall current, Effects effects) {
		this.state.committed(current.rows);
		complete(current, effects);
		this.core.readers().wake(effects);
	}

	private void endWritten(SenderCall current, @Nullable SpillException failure) {
		Effects effects = new Effects();
		synchronized (this.lock) {
			if (!this.state.writeEnded() || this.call != current) {
				this.core.cleanUpIfPossible(effects);
			}
			else if (failure == null) {
				finished(current, effects);
			}
			else {
				this.core.fail(failure, effects);
			}
		}
		effects.run();
	}

	private void finished(SenderCall current, Effects effects) {
		this.state.finished();
		complete(current, effects);
		this.core.finished(effects);
	}

	private void complete(SenderCall current, Effects effects) {
		this.call = null;
		this.state.senderCalled();
		if (current.returned) {
			effects.add(() -> current.result.complete(null));
		}
		else {
			// Nobody has it yet.
			current.result.complete(null);
		}
	}

	/**
	 * The spill ends while a call of the sender may be in progress. Called under the
	 * lock.
	 */
	void interrupt(SpillException why, Effects effects) {
		SenderCall interrupted = this.call;
		if (interrupted == null) {
			return;
		}
		this.call = null;
		this.state.senderCalled();
		if (!interrupted.onItsWay) {
			effects.add(interrupted::closeBatch);
		}
		effects.add(() -> interrupted.result.completeExceptionally(why.again(why.detail())));
	}

	private boolean mayStay(SpillException failure) {
		return this.policy.unusableDirectory() == UnusableDirectory.MEMORY && !this.disk.hasFile()
				&& this.state.state() == State.SWITCHING
				&& (failure instanceof SpillIoException || failure instanceof SpillDiskFullException);
	}

	/**
	 * Returns the bytes that moving to disk would free, about; may be asked without the
	 * lock.
	 */
	long movable() {
		boolean may = this.policy.mode() == SpillMode.SPILL
				&& (this.moveFailed == 0 || System.nanoTime() - this.moveFailed > MOVE_RETRY_NANOS);
		return may ? this.memory.bytes() : 0;
	}

	/**
	 * Moves what is in memory to disk, to make room for other spills. A move that fails
	 * does no harm: the spill stays in memory.
	 * @return the stage that ends when the move did, or {@code null} if there is nothing
	 * to move
	 */
	@Nullable CompletionStage<Void> moveToDisk() {
		Effects effects = new Effects();
		CompletableFuture<Void> moving;
		synchronized (this.lock) {
			if (this.state.isMoving()) {
				return this.move;
			}
			if (!this.state.canMove() || movable() == 0) {
				return null;
			}
			this.state.moveBegins();
			moving = new CompletableFuture<>();
			this.move = moving;
			boolean complete = this.state.state() == State.FINISHED;
			Iterator<RecordBatch> contents = this.memory.contents();
			Map<Long, Field> dictionaryFields = this.fields.get();
			effects.add(() -> this.disk.move(this.core.schema(), dictionaryFields, contents, complete,
					() -> !this.core.isEnded(), (failure) -> moved(moving, failure)));
		}
		effects.run();
		return moving;
	}

	private void moved(CompletableFuture<Void> moving, @Nullable SpillException failure) {
		Effects effects = new Effects();
		synchronized (this.lock) {
			if (!this.state.moveEnded()) {
				this.core.cleanUpIfPossible(effects);
			}
			else if (failure == null) {
				this.state.switched();
				effects.add(this.memory.clear());
			}
			else {
				this.state.stayInMemory();
				this.moveFailed = System.nanoTime() | 1;
				effects.add(() -> logger.warn("Spill '{}' can't be moved to disk to make room, and stays in memory: {}",
						this.core.name(), failure.detail()));
			}
			SenderCall waiting = this.call;
			if (waiting != null && !waiting.onItsWay) {
				proceedOrFail(waiting, effects);
			}
			effects.add(() -> moving.complete(null));
		}
		effects.run();
	}

	/**
	 * Batches, and one after them.
	 */
	private static final class OneMore implements Iterator<RecordBatch> {

		private final Iterator<RecordBatch> before;

		private @Nullable RecordBatch last;

		OneMore(Iterator<RecordBatch> before, RecordBatch last) {
			this.before = before;
			this.last = last;
		}

		@Override
		public boolean hasNext() {
			return this.last != null;
		}

		@Override
		public RecordBatch next() {
			if (this.before.hasNext()) {
				return this.before.next();
			}
			RecordBatch batch = this.last;
			if (batch == null) {
				throw new NoSuchElementException();
			}
			this.last = null;
			return batch.share();
		}

	}

}
