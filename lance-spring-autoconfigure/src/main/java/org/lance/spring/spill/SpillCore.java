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
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.EngineThreads;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.SizeHint;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state machine of one spill. All transitions happen under one lock; what they cause
 * (stages, memory, files) happens after it, as {@link Effects}. Knows its ends (sender,
 * receiver, readers) only while they wait, so that a forgotten one can be noticed.
 */
final class SpillCore {

	private static final Logger logger = LoggerFactory.getLogger(SpillCore.class);

	private final String name;

	private final Schema schema;

	private final DictionaryFields fields;

	private final SpillMemory memory;

	private final SpillDisk disk;

	private final SpillExecutor executor;

	private final SpillCounters counters;

	private final Owner owner;

	private final InstantSource clock;

	private final Instant created;

	private final CompletableFuture<SpillSnapshot> written = EngineThreads.newFuture();

	private final CompletableFuture<Void> closed = EngineThreads.newFuture();

	private final Object lock = new Object();

	private final Set<SpillReader> waiting = new LinkedHashSet<>();

	private State state = State.IN_MEMORY;

	/**
	 * Why nothing can be read or written any more; the same failure for everybody.
	 */
	private volatile @Nullable SpillException ending;

	private int committed;

	private long rows;

	/**
	 * The write or finish that is on its way to disk.
	 */
	private @Nullable CompletableFuture<Void> writing;

	private boolean senderDone;

	private int readers;

	/**
	 * File calls queued or running; the file is deleted after the last one.
	 */
	private int calls;

	private boolean cleaning;

	private boolean gone;

	private boolean busy = true;

	SpillCore(String name, Schema schema, Map<Long, Field> dictionaryFields, SpillMemory memory, SpillDisk disk,
			SpillExecutor executor, SpillCounters counters, InstantSource clock, Owner owner) {
		this.name = name;
		this.schema = schema;
		this.fields = new DictionaryFields(dictionaryFields);
		this.memory = memory;
		this.disk = disk;
		this.executor = executor;
		this.counters = counters;
		this.clock = clock;
		this.created = clock.instant();
		this.owner = owner;
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
		RecordBatch held;
		try {
			held = batch.withSchema(this.schema);
		}
		catch (RuntimeException ex) {
			return failed(ex);
		}
		CompletableFuture<Void> result = EngineThreads.newFuture();
		Effects effects = new Effects();
		boolean toDisk = false;
		synchronized (this.lock) {
			RuntimeException refusal = refusal(held);
			if (refusal != null) {
				effects.add(held::close);
				result.completeExceptionally(refusal);
			}
			else {
				this.fields.learn(held.dictionaries());
				if (this.state == State.IN_MEMORY && this.memory.tryAdd(held)) {
					commit(held.rowCount(), effects);
					result.complete(null);
				}
				else {
					this.state = State.IN_MEMORY.equals(this.state) ? State.SWITCHING : this.state;
					this.writing = result;
					this.calls++;
					toDisk = true;
				}
			}
		}
		effects.run();
		if (toDisk) {
			this.executor.execute(() -> append(held), () -> appended(held, executorGone()));
		}
		return result;
	}

	CompletionStage<Void> finish() {
		CompletableFuture<Void> result = EngineThreads.newFuture();
		Effects effects = new Effects();
		boolean toDisk = false;
		synchronized (this.lock) {
			RuntimeException refusal = refusal(null);
			if (refusal != null) {
				result.completeExceptionally(refusal);
			}
			else {
				this.senderDone = true;
				if (this.state == State.IN_MEMORY) {
					finished(effects);
					result.complete(null);
				}
				else {
					this.writing = result;
					this.calls++;
					toDisk = true;
				}
			}
		}
		effects.run();
		if (toDisk) {
			this.executor.execute(this::finishFile, () -> fileFinished(executorGone()));
		}
		return result;
	}

	/**
	 * Why the sender may not write or finish now.
	 */
	private @Nullable RuntimeException refusal(@Nullable RecordBatch batch) {
		SpillException why = this.ending;
		if (why != null) {
			return why.again((this.state == State.FAILED) ? "already failed: " + why.detail() : why.detail());
		}
		if (this.senderDone) {
			return new IllegalStateException("Spill '%s' is finished and takes nothing more".formatted(this.name));
		}
		if (this.writing != null) {
			return new IllegalStateException(
					"The last write to spill '%s' is not complete; a sender takes one call at a time"
						.formatted(this.name));
		}
		try {
			if (batch != null) {
				this.fields.check(batch);
			}
			return null;
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

	private void append(RecordBatch batch) {
		SpillException failure = null;
		try {
			// Nobody changes the batches in memory while a write is on its way.
			this.disk.write(this.schema, this.fields.get(), this.memory.batches(), batch, () -> this.ending == null);
		}
		catch (Throwable ex) {
			failure = typed("batch %d could not be written".formatted(this.committed), ex);
		}
		appended(batch, failure);
	}

	private void appended(RecordBatch batch, @Nullable SpillException failure) {
		int batchRows = batch.rowCount();
		Effects effects = new Effects();
		effects.add(batch::close);
		synchronized (this.lock) {
			CompletableFuture<Void> result = fileCallEnded(failure, effects);
			if (result != null) {
				if (this.state == State.SWITCHING) {
					this.state = State.ON_DISK;
					effects.add(this.memory.clear());
				}
				commit(batchRows, effects);
				effects.add(() -> result.complete(null));
			}
		}
		effects.run();
	}

	private void finishFile() {
		SpillException failure = null;
		try {
			this.disk.finish();
		}
		catch (Throwable ex) {
			failure = typed("the end could not be written", ex);
		}
		fileFinished(failure);
	}

	private void fileFinished(@Nullable SpillException failure) {
		Effects effects = new Effects();
		synchronized (this.lock) {
			CompletableFuture<Void> result = fileCallEnded(failure, effects);
			if (result != null) {
				finished(effects);
				effects.add(() -> result.complete(null));
			}
		}
		effects.run();
	}

	/**
	 * Ends the sender's file call.
	 * @return the stage to complete, or {@code null} if the spill has ended
	 */
	private @Nullable CompletableFuture<Void> fileCallEnded(@Nullable SpillException failure, Effects effects) {
		this.calls--;
		CompletableFuture<Void> result = this.writing;
		if (this.ending != null || result == null) {
			cleanUpIfLast(effects);
			return null;
		}
		this.writing = null;
		if (failure != null) {
			effects.add(() -> result.completeExceptionally(failure));
			end(State.FAILED, failure, true, effects);
			return null;
		}
		return result;
	}

	private void commit(int batchRows, Effects effects) {
		this.committed++;
		this.rows += batchRows;
		wakeReaders(effects);
	}

	private void finished(Effects effects) {
		this.state = State.FINISHED;
		SpillSnapshot snapshot = snapshot();
		effects.add(() -> this.written.complete(snapshot));
		wakeReaders(effects);
		updateBusy(effects);
	}

	private void wakeReaders(Effects effects) {
		this.waiting.forEach((reader) -> effects.add(() -> read(reader)));
		this.waiting.clear();
	}

	/**
	 * The source failed. Without effect once the spill has ended.
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
			if (!this.senderDone) {
				end(State.FAILED, why, true, effects);
			}
		}
		effects.run();
	}

	/**
	 * Closes the spill. Without effect once it failed or was closed.
	 * @param unwanted whether to count it as a failure if it is still being written
	 */
	void close(String detail, boolean unwanted) {
		Effects effects = new Effects();
		synchronized (this.lock) {
			end(State.CLOSED, new SpillClosedException(this.name, detail, null),
					unwanted && this.state != State.FINISHED, effects);
		}
		effects.run();
	}

	private void end(State to, SpillException why, boolean count, Effects effects) {
		if (this.ending != null) {
			return;
		}
		this.state = to;
		this.ending = why;
		this.senderDone = true;
		if (count) {
			this.counters.failed(why);
		}
		CompletableFuture<Void> interrupted = this.writing;
		this.writing = null;
		if (interrupted != null) {
			effects.add(() -> interrupted.completeExceptionally(why.again(why.detail())));
		}
		effects.add(() -> this.written.completeExceptionally(why));
		wakeReaders(effects);
		cleanUpIfLast(effects);
		updateBusy(effects);
	}

	private void cleanUpIfLast(Effects effects) {
		if (this.ending == null || this.calls > 0 || this.cleaning) {
			return;
		}
		this.cleaning = true;
		effects.add(this.memory.clear());
		effects.add(this.disk.hasFile() ? () -> this.executor.cleanUp(this::deleteFile) : this::gone);
	}

	private void deleteFile() {
		try {
			this.disk.delete();
		}
		catch (Throwable ex) {
			logger.warn("The file of spill '{}' could not be deleted", this.name, ex);
		}
		gone();
	}

	private void gone() {
		Effects effects = new Effects();
		synchronized (this.lock) {
			this.gone = true;
			updateBusy(effects);
		}
		effects.add(() -> this.owner.gone(this));
		effects.add(() -> this.closed.complete(null));
		effects.run();
	}

	/**
	 * Opens a reader.
	 */
	void readerOpened() {
		countReader(1);
	}

	void readerClosed() {
		countReader(-1);
	}

	private void countReader(int change) {
		Effects effects = new Effects();
		synchronized (this.lock) {
			this.readers += change;
			updateBusy(effects);
		}
		effects.run();
	}

	/**
	 * Gives a reader its next batch: now, when it was read from disk, or when it was
	 * written.
	 */
	void read(SpillReader reader) {
		RecordBatch batch = null;
		Throwable failure = null;
		synchronized (this.lock) {
			SpillException why = this.ending;
			if (why != null) {
				failure = why.again(why.detail());
			}
			else if (reader.cancelled) {
				failure = new CancellationException("The reader was closed");
			}
			else if (reader.position < this.committed) {
				if (this.disk.hasFile() && this.state != State.SWITCHING) {
					this.calls++;
				}
				else {
					batch = this.memory.share(reader.position++);
				}
			}
			else if (this.state != State.FINISHED) {
				this.waiting.add(reader);
				return;
			}
			else {
				reader.atEnd = true;
			}
		}
		if (failure != null) {
			reader.fail(failure);
		}
		else if (batch != null || reader.atEnd) {
			reader.complete(batch);
		}
		else {
			this.executor.execute(() -> readFile(reader), () -> fileRead(reader, null, executorGone()));
		}
	}

	private void readFile(SpillReader reader) {
		RecordBatch batch = null;
		SpillException failure = null;
		try {
			batch = this.disk.read(reader.position);
		}
		catch (Throwable ex) {
			failure = typed("batch %d could not be read".formatted(reader.position), ex);
			this.counters.failed(failure);
		}
		fileRead(reader, batch, failure);
	}

	private void fileRead(SpillReader reader, @Nullable RecordBatch batch, @Nullable SpillException failure) {
		Effects effects = new Effects();
		synchronized (this.lock) {
			this.calls--;
			SpillException why = this.ending;
			if (batch != null && why == null) {
				reader.position++;
				effects.add(() -> reader.complete(batch));
			}
			else {
				SpillException news = (why != null) ? why.again(why.detail()) : failure;
				effects.add(() -> reader.fail(news));
				if (batch != null) {
					effects.add(batch::close);
				}
			}
			cleanUpIfLast(effects);
		}
		effects.run();
	}

	/**
	 * Ends the wait of a reader whose caller went away.
	 */
	void cancel(SpillReader reader) {
		boolean waited;
		synchronized (this.lock) {
			reader.cancelled = true;
			waited = this.waiting.remove(reader);
		}
		if (waited) {
			reader.fail(new CancellationException("The reader was closed"));
		}
	}

	SizeHint sizeHint(SpillReader reader) {
		synchronized (this.lock) {
			SizeHint known = SizeHint.exactly(this.committed - reader.position);
			return (this.state == State.FINISHED) ? known : SizeHint.UNKNOWN.plus(known.lower());
		}
	}

	private void updateBusy(Effects effects) {
		boolean now = !this.gone && (this.state != State.FINISHED || this.readers > 0);
		if (now != this.busy) {
			this.busy = now;
			effects.add(() -> this.owner.busyChanged(now));
		}
	}

	/**
	 * Tells whether the spill is being written, read or given back.
	 */
	boolean isBusy() {
		synchronized (this.lock) {
			return this.busy;
		}
	}

	/**
	 * Tells whether the spill has failed or was closed.
	 */
	boolean isEnded() {
		return this.ending != null;
	}

	SpillSnapshot snapshot() {
		synchronized (this.lock) {
			return new SpillSnapshot(this.name, this.state, this.committed, this.rows, this.memory.bytes(),
					this.disk.bytes(), this.readers, Duration.between(this.created, this.clock.instant()));
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

	private SpillException typed(String what, Throwable failure) {
		return (failure instanceof SpillException typed) ? typed
				: new SpillIoException(this.name, what + ": " + failure, failure);
	}

	private SpillException executorGone() {
		return new SpillClosedException(this.name, "the spill executor is shut down", null);
	}

	private static CompletionStage<Void> failed(Throwable failure) {
		CompletableFuture<Void> result = EngineThreads.newFuture();
		result.completeExceptionally(failure);
		return result;
	}

	/**
	 * Is told what a manager has to know; outside the lock.
	 */
	interface Owner {

		/**
		 * The spill has begun or ended to be written, read or given back; it begins busy.
		 */
		void busyChanged(boolean busy);

		/**
		 * The spill holds nothing any more.
		 */
		void gone(SpillCore spill);

	}

}
