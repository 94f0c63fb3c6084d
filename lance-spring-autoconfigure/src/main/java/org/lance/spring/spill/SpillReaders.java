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

import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.SizeHint;

/**
 * The reading half of a spill: gives readers their next batch from memory or file, and
 * remembers those that wait. Works under the lock of its {@link SpillCore}.
 */
final class SpillReaders {

	private final Object lock;

	private final SpillState state;

	private final SpillMemory memory;

	private final SpillDisk disk;

	private final Consumer<Effects> cleanUp;

	private final Set<SpillReader> waiting = new LinkedHashSet<>();

	SpillReaders(Object lock, SpillState state, SpillMemory memory, SpillDisk disk, Consumer<Effects> cleanUp) {
		this.lock = lock;
		this.state = state;
		this.memory = memory;
		this.disk = disk;
		this.cleanUp = cleanUp;
	}

	/**
	 * Something happened that readers wait for. Called under the lock.
	 */
	void wake(Effects effects) {
		this.waiting.forEach((reader) -> effects.add(() -> read(reader, false)));
		this.waiting.clear();
	}

	/**
	 * Gives a reader its next batch: now, when it was read from disk, or when it was
	 * written.
	 */
	void read(SpillReader reader) {
		read(reader, true);
	}

	/**
	 * Gives a reader its next batch.
	 * @param goesOn whether it comes from its own callback; not if one thread wakes many
	 * readers, each of which can have a thread of its own
	 */
	private void read(SpillReader reader, boolean goesOn) {
		RecordBatch batch = null;
		Throwable failure = null;
		boolean fromFile = false;
		synchronized (this.lock) {
			SpillException why = this.state.ending();
			if (why != null) {
				failure = why.again(why.detail());
			}
			else if (reader.cancelled) {
				failure = cancellation();
			}
			else if (reader.position < this.memory.size()) {
				batch = this.memory.share(reader.position++);
			}
			else if (reader.position < this.state.batches()) {
				this.state.readBegins();
				fromFile = true;
			}
			else if (this.state.state() != State.FINISHED) {
				this.waiting.add(reader);
				return;
			}
		}
		if (failure != null) {
			reader.fail(failure);
		}
		else if (fromFile) {
			this.disk.read(reader.position, goesOn, (read, readFailure) -> fileRead(reader, read, readFailure));
		}
		else {
			reader.complete(batch);
		}
	}

	private void fileRead(SpillReader reader, @Nullable RecordBatch batch, @Nullable SpillException failure) {
		Effects effects = new Effects();
		synchronized (this.lock) {
			this.state.readEnded();
			this.cleanUp.accept(effects);
			SpillException why = this.state.ending();
			if (why != null) {
				if (batch != null) {
					effects.add(batch::close);
				}
				effects.add(() -> reader.fail(why.again(why.detail())));
			}
			else if (batch != null) {
				reader.position++;
				effects.add(() -> reader.complete(batch));
			}
			else {
				effects.add(() -> reader.fail(Objects.requireNonNull(failure)));
			}
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
			reader.fail(cancellation());
		}
	}

	private static CancellationException cancellation() {
		return new CancellationException("The reader was closed");
	}

	SizeHint sizeHint(SpillReader reader) {
		synchronized (this.lock) {
			int known = this.state.batches() - reader.position;
			return (this.state.state() == State.FINISHED) ? SizeHint.exactly(known) : SizeHint.UNKNOWN.plus(known);
		}
	}

}
