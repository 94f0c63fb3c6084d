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
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.EngineThreads;
import org.lance.spring.stream.RecordBatch;

/**
 * One spill. All transitions of its {@link SpillState} happen under one lock; what they
 * cause (stages, memory, file calls) happens after it, as {@link Effects}. Knows its ends
 * (sender, receiver, readers) only while they wait, so that a forgotten one can be
 * noticed.
 */
final class SpillCore {

	private final String name;

	private final Schema schema;

	private final DictionaryFields fields;

	private final SpillMemory memory;

	private final SpillDisk disk;

	private final SpillCounters counters;

	private final SpillOwner owner;

	private final InstantSource clock;

	private final Instant created;

	private final CompletableFuture<SpillSnapshot> written = EngineThreads.newFuture();

	private final CompletableFuture<Void> closed = EngineThreads.newFuture();

	private final Object lock = new Object();

	private final SpillState state;

	private final SpillReaders readers;

	/**
	 * The stage of the write or finish that is on its way to disk.
	 */
	private @Nullable CompletableFuture<Void> writing;

	SpillCore(String name, Schema schema, Map<Long, Field> dictionaryFields, SpillMemory memory, SpillDisk disk,
			SpillCounters counters, InstantSource clock, SpillOwner owner) {
		this.name = name;
		this.schema = schema;
		this.fields = new DictionaryFields(dictionaryFields);
		this.memory = memory;
		this.disk = disk;
		this.counters = counters;
		this.clock = clock;
		this.created = clock.instant();
		this.owner = owner;
		this.state = new SpillState(name);
		this.readers = new SpillReaders(this.lock, this.state, memory, disk, this::cleanUpIfPossible);
	}

	String name() {
		return this.name;
	}

	Schema schema() {
		return this.schema;
	}

	Map<Long, Field> dictionaryFields() {
		return this.fields.get();
	}

	CompletionStage<Void> write(RecordBatch batch) {
		CompletableFuture<Void> result = EngineThreads.newFuture();
		RecordBatch held;
		try {
			this.fields.check(batch);
			held = batch.withSchema(this.schema);
		}
		catch (RuntimeException ex) {
			result.completeExceptionally(ex);
			return result;
		}
		Effects effects = new Effects();
		synchronized (this.lock) {
			RuntimeException refusal = this.state.refusal();
			if (refusal != null) {
				effects.add(held::close);
				result.completeExceptionally(refusal);
			}
			else {
				this.fields.learn(held.dictionaries());
				if (this.state.state() == State.IN_MEMORY && this.memory.tryAdd(held)) {
					committed(held.rowCount(), effects);
					result.complete(null);
				}
				else {
					writeToFile(held, result, effects);
				}
			}
		}
		effects.run();
		return result;
	}

	private void writeToFile(RecordBatch held, CompletableFuture<Void> result, Effects effects) {
		this.state.writeToFile();
		this.writing = result;
		// Readers go on in memory until the file has everything.
		List<RecordBatch> batches = new ArrayList<>(this.memory.batches());
		batches.add(held);
		Map<Long, Field> dictionaryFields = this.fields.get();
		effects.add(() -> this.disk.append(this.schema, dictionaryFields, batches, () -> !isEnded(),
				(failure) -> appended(held, failure)));
	}

	private void appended(RecordBatch held, @Nullable SpillException failure) {
		int rows = held.rowCount();
		Effects effects = new Effects();
		effects.add(held::close);
		synchronized (this.lock) {
			CompletableFuture<Void> result = writeSucceeded(failure, effects);
			if (result != null) {
				if (this.state.switched()) {
					effects.add(this.memory.clear());
				}
				effects.add(() -> result.complete(null));
				committed(rows, effects);
			}
		}
		effects.run();
	}

	CompletionStage<Void> finish() {
		CompletableFuture<Void> result = EngineThreads.newFuture();
		Effects effects = new Effects();
		synchronized (this.lock) {
			RuntimeException refusal = this.state.refusal();
			if (refusal != null) {
				result.completeExceptionally(refusal);
			}
			else if (this.state.finish()) {
				finished(effects);
				result.complete(null);
			}
			else {
				this.writing = result;
				effects.add(() -> this.disk.finish(this::endWritten));
			}
		}
		effects.run();
		return result;
	}

	private void endWritten(@Nullable SpillException failure) {
		Effects effects = new Effects();
		synchronized (this.lock) {
			CompletableFuture<Void> result = writeSucceeded(failure, effects);
			if (result != null) {
				this.state.finished();
				effects.add(() -> result.complete(null));
				finished(effects);
			}
		}
		effects.run();
	}

	/**
	 * Takes the outcome of the sender's file call.
	 * @return the stage to complete, or {@code null} if it failed or nobody waits any
	 * more
	 */
	private @Nullable CompletableFuture<Void> writeSucceeded(@Nullable SpillException failure, Effects effects) {
		CompletableFuture<Void> result = this.writing;
		this.writing = null;
		if (!this.state.writeEnded() || result == null) {
			cleanUpIfPossible(effects);
			return null;
		}
		if (failure != null) {
			effects.add(() -> result.completeExceptionally(failure));
			end(State.FAILED, failure, true, effects);
			return null;
		}
		return result;
	}

	private void committed(int rows, Effects effects) {
		this.state.committed(rows);
		this.readers.wake(effects);
	}

	private void finished(Effects effects) {
		SpillSnapshot snapshot = snapshot();
		effects.add(() -> this.written.complete(snapshot));
		this.readers.wake(effects);
		updateBusy(effects);
	}

	/**
	 * The source failed. Without effect once the sender finished or the spill has ended.
	 */
	void sendError(Throwable cause) {
		endWriting(new SpillSourceFailedException(this.name, "the source failed: " + cause, cause));
	}

	/**
	 * The sender went away. Without effect once it finished or the spill has ended.
	 */
	void abandon(String detail) {
		endWriting(new SpillAbandonedException(this.name, detail, null));
	}

	private void endWriting(SpillException why) {
		Effects effects = new Effects();
		synchronized (this.lock) {
			if (!this.state.isSenderDone()) {
				end(State.FAILED, why, true, effects);
			}
		}
		effects.run();
	}

	/**
	 * Closes the spill. Without effect once it failed or was closed.
	 * @param count whether to count it as a failure if it is still being written
	 */
	void close(String detail, boolean count) {
		Effects effects = new Effects();
		synchronized (this.lock) {
			end(State.CLOSED, new SpillClosedException(this.name, detail, null),
					count && this.state.state() != State.FINISHED, effects);
		}
		effects.run();
		this.disk.settle();
	}

	private void end(State to, SpillException why, boolean count, Effects effects) {
		if (!this.state.end(to, why)) {
			return;
		}
		if (count) {
			this.counters.failed(why);
		}
		CompletableFuture<Void> interrupted = this.writing;
		this.writing = null;
		if (interrupted != null) {
			effects.add(() -> interrupted.completeExceptionally(why.again(why.detail())));
		}
		effects.add(() -> this.written.completeExceptionally(why));
		this.readers.wake(effects);
		cleanUpIfPossible(effects);
	}

	private void cleanUpIfPossible(Effects effects) {
		if (this.state.beginCleanUp()) {
			effects.add(this.memory.clear());
			effects.add(this.disk.hasFile() ? () -> this.disk.delete(this::gone) : this::gone);
		}
	}

	private void gone() {
		Effects effects = new Effects();
		synchronized (this.lock) {
			this.state.gone();
			updateBusy(effects);
		}
		effects.add(() -> this.owner.gone(this));
		effects.add(() -> this.closed.complete(null));
		effects.run();
	}

	void readerOpened() {
		changeReaders(this.state::readerOpened);
	}

	void readerClosed() {
		changeReaders(this.state::readerClosed);
	}

	SpillReaders readers() {
		return this.readers;
	}

	private void changeReaders(Runnable transition) {
		Effects effects = new Effects();
		synchronized (this.lock) {
			transition.run();
			updateBusy(effects);
		}
		effects.run();
	}

	private void updateBusy(Effects effects) {
		if (this.state.updateBusy()) {
			boolean now = this.state.isBusy();
			effects.add(() -> this.owner.busyChanged(now));
		}
	}

	/**
	 * Tells whether the spill is being written, read or given back.
	 */
	boolean isBusy() {
		synchronized (this.lock) {
			return this.state.isBusy();
		}
	}

	/**
	 * Tells whether the spill has failed or was closed.
	 */
	boolean isEnded() {
		return this.state.ending() != null;
	}

	SpillSnapshot snapshot() {
		synchronized (this.lock) {
			return new SpillSnapshot(this.name, this.state.state(), this.state.batches(), this.state.rows(),
					this.memory.bytes(), this.disk.bytes(), this.state.readers(),
					Duration.between(this.created, this.clock.instant()));
		}
	}

	/**
	 * The stage of what was written; each caller gets a failure of its own.
	 */
	CompletionStage<SpillSnapshot> written() {
		CompletableFuture<SpillSnapshot> result = EngineThreads.newFuture();
		this.written.whenComplete((snapshot, failure) -> {
			if (failure instanceof SpillException why) {
				result.completeExceptionally(why.again(why.detail()));
			}
			else {
				result.complete(snapshot);
			}
		});
		return result;
	}

	CompletionStage<Void> closed() {
		return this.closed.copy();
	}

}
