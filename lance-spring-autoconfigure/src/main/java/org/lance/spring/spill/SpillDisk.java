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

import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.RecordBatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The part of one spill that is on disk: makes the file when it is first needed, does
 * file calls on the spill executor, counts, and gives every failure its type. Each call
 * ends in its callback, exactly once, also when the executor is shut down.
 */
final class SpillDisk {

	private static final Logger logger = LoggerFactory.getLogger(SpillDisk.class);

	private final String name;

	private final SpillFile.Store store;

	private final SpillFormat format;

	private final SpillExecutor executor;

	private final SpillCounters counters;

	private final Verification verification;

	private volatile @Nullable SpillFile file;

	/**
	 * What of {@link SpillFile#bytes()} was counted; only touched by the one that writes.
	 */
	private long counted;

	/**
	 * Whether a read failed: however many readers get to know, it is one spill.
	 */
	private final AtomicBoolean readFailed = new AtomicBoolean();

	private final AtomicBoolean spilled = new AtomicBoolean();

	SpillDisk(String name, SpillFile.Store store, SpillFormat format, SpillExecutor executor, SpillCounters counters,
			Verification verification) {
		this.name = name;
		this.store = store;
		this.format = format;
		this.executor = executor;
		this.counters = counters;
		this.verification = verification;
	}

	/**
	 * Appends batches and makes the file before if there is none.
	 * @param batches the batches, each owned by whoever takes it
	 * @param wanted is asked before each batch whether anybody still wants it
	 * @param ended is given the failure, or {@code null}
	 */
	void append(Schema schema, Map<Long, Field> dictionaryFields, Iterator<RecordBatch> batches, Wanted wanted,
			Consumer<@Nullable SpillException> ended) {
		this.executor.goOn(() -> ended.accept(tryAppend(schema, dictionaryFields, batches, wanted)),
				() -> ended.accept(executorGone()));
	}

	/**
	 * Makes a file of all batches that a spill has; if that fails, there is none.
	 * @param complete whether no more will come
	 */
	void move(Schema schema, Map<Long, Field> dictionaryFields, Iterator<RecordBatch> batches, boolean complete,
			Wanted wanted, Consumer<@Nullable SpillException> ended) {
		this.executor.execute(() -> {
			SpillException failure = tryAppend(schema, dictionaryFields, batches, wanted);
			if (failure == null && complete && wanted.stillWanted()) {
				failure = tryFinish();
			}
			if (failure != null && hasFile()) {
				tryDelete();
			}
			ended.accept(failure);
		}, () -> ended.accept(executorGone()));
	}

	private @Nullable SpillException tryAppend(Schema schema, Map<Long, Field> dictionaryFields,
			Iterator<RecordBatch> batches, Wanted wanted) {
		long start = System.nanoTime();
		int index = 0;
		try {
			SpillFile target = this.file;
			if (target == null) {
				target = this.store.create(this.name, schema, dictionaryFields, this.format);
				this.file = target;
				this.counters.files.increment();
				this.counters.directoryUsable();
			}
			try {
				index = target.batches();
				while (batches.hasNext() && wanted.stillWanted()) {
					try (RecordBatch batch = batches.next()) {
						target.append(batch);
					}
					this.counters.writes.increment();
					index++;
				}
			}
			finally {
				count(target);
			}
			if (this.spilled.compareAndSet(false, true)) {
				this.counters.spilled.increment();
			}
			return null;
		}
		catch (Throwable ex) {
			return typed("batch %d could not be written".formatted(index), ex);
		}
		finally {
			this.counters.writeNanos.add(System.nanoTime() - start);
		}
	}

	/**
	 * Says that a spill stays in memory because no file can be made; once, until one can.
	 */
	void warnOfUnusableDirectory(SpillException failure) {
		if (this.counters.directoryUnusable()) {
			logger.warn(
					"Spill '{}' stays in memory beyond its limit, because no directory is usable, and so will others: {}",
					this.name, failure.detail());
		}
	}

	/**
	 * Writes the end.
	 * @param ended is given the failure, or {@code null}
	 */
	void finish(Consumer<@Nullable SpillException> ended) {
		this.executor.execute(() -> ended.accept(tryFinish()), () -> ended.accept(executorGone()));
	}

	private @Nullable SpillException tryFinish() {
		try {
			SpillFile target = file();
			try {
				target.finish();
			}
			finally {
				count(target);
			}
			return null;
		}
		catch (Throwable ex) {
			return typed("the end could not be written", ex);
		}
	}

	private void count(SpillFile target) {
		long added = target.bytes() - this.counted;
		this.counted += added;
		this.counters.bytesWritten.add(added);
	}

	/**
	 * Reads a committed batch.
	 * @param goesOn whether this thread may read if it is one of the executor
	 * @param ended is given the batch, which it owns, or the failure
	 */
	void read(int index, boolean goesOn, BiConsumer<@Nullable RecordBatch, @Nullable SpillException> ended) {
		Runnable task = () -> tryRead(index, ended);
		Runnable rejected = () -> ended.accept(null, executorGone());
		if (goesOn) {
			this.executor.goOn(task, rejected);
		}
		else {
			this.executor.execute(task, rejected);
		}
	}

	private void tryRead(int index, BiConsumer<@Nullable RecordBatch, @Nullable SpillException> ended) {
		long start = System.nanoTime();
		RecordBatch batch;
		try {
			SpillFile source = file();
			batch = source.read(index, this.verification);
			this.counters.bytesRead.add(source.length(index));
			this.counters.reads.increment();
			this.counters.readNanos.add(System.nanoTime() - start);
		}
		catch (Throwable ex) {
			SpillException failure = typed("batch %d could not be read".formatted(index), ex);
			if (this.readFailed.compareAndSet(false, true)) {
				this.counters.failed(failure);
			}
			ended.accept(null, failure);
			return;
		}
		ended.accept(batch, null);
	}

	/**
	 * Deletes the file; called once, when no other call is in progress and none will
	 * come.
	 */
	void delete(Runnable ended) {
		this.executor.cleanUp(() -> {
			tryDelete();
			ended.run();
		});
	}

	private void tryDelete() {
		try {
			file().delete();
		}
		catch (Throwable ex) {
			logger.warn("The file of spill '{}' could not be deleted", this.name, ex);
		}
		this.file = null;
		this.counters.files.decrement();
		this.counted = 0;
	}

	/**
	 * Ends the calls that a shut-down executor may have thrown away, on this thread.
	 */
	void settle() {
		this.executor.settle();
	}

	private SpillFile file() {
		SpillFile existing = this.file;
		if (existing == null) {
			throw new IllegalStateException("Spill '%s' has no file".formatted(this.name));
		}
		return existing;
	}

	boolean hasFile() {
		return this.file != null;
	}

	long bytes() {
		SpillFile existing = this.file;
		return (existing != null) ? existing.bytes() : 0;
	}

	private SpillException typed(String what, Throwable failure) {
		return (failure instanceof SpillException typed) ? typed
				: new SpillIoException(this.name, what + ": " + failure, failure);
	}

	private SpillException executorGone() {
		return new SpillClosedException(this.name, "the spill executor is shut down", null);
	}

	/**
	 * Tells whether the rest of a call is still wanted.
	 */
	@FunctionalInterface
	interface Wanted {

		boolean stillWanted();

	}

}
