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

	private final SpillWriter writer;

	SpillCore(String name, Schema schema, Map<Long, Field> dictionaryFields, SpillMemory memory, SpillDisk disk,
			SpillPolicy policy, SpillCounters counters, InstantSource clock, SpillOwner owner) {
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
		this.writer = new SpillWriter(this, this.lock, this.state, memory, disk, this.fields, policy, owner);
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
		return this.writer.write(batch);
	}

	CompletionStage<Void> finish() {
		return this.writer.finish();
	}

	/**
	 * The spill is complete. Called under the lock.
	 */
	void finished(Effects effects) {
		SpillSnapshot snapshot = snapshot();
		effects.add(() -> this.written.complete(snapshot));
		this.readers.wake(effects);
		updateBusy(effects);
	}

	/**
	 * Returns the bytes that {@link #moveToDisk()} would free, about.
	 */
	long movable() {
		return this.writer.movable();
	}

	@Nullable CompletionStage<Void> moveToDisk() {
		return this.writer.moveToDisk();
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
	void abandon(String detail, @Nullable Throwable cause) {
		endWriting(new SpillAbandonedException(this.name, detail, cause));
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

	/**
	 * A write failed, and the spill with it. Called under the lock.
	 */
	void fail(SpillException why, Effects effects) {
		end(State.FAILED, why, true, effects);
	}

	private void end(State to, SpillException why, boolean count, Effects effects) {
		if (!this.state.end(to, why)) {
			return;
		}
		if (count) {
			this.counters.failed(why);
		}
		this.writer.interrupt(why, effects);
		effects.add(() -> this.written.completeExceptionally(why));
		this.readers.wake(effects);
		cleanUpIfPossible(effects);
	}

	/**
	 * Called under the lock.
	 */
	void cleanUpIfPossible(Effects effects) {
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
