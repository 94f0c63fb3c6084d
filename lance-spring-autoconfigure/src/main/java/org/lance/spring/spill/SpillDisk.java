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

import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.RecordBatch;

/**
 * The part of one spill that is on disk: makes the file when it is first needed, and
 * counts. All methods but the getters block: they run on the spill executor only.
 */
final class SpillDisk {

	private final String name;

	private final SpillFile.Store store;

	private final SpillCounters counters;

	private final Verification verification;

	private volatile @Nullable SpillFile file;

	/**
	 * What of {@link SpillFile#bytes()} was counted; only touched by the one that writes.
	 */
	private long counted;

	SpillDisk(String name, SpillFile.Store store, SpillCounters counters, Verification verification) {
		this.name = name;
		this.store = store;
		this.counters = counters;
		this.verification = verification;
	}

	/**
	 * Appends a batch, after those that were in memory until now.
	 * @param goOn whether the spill is still wanted; asked before each batch
	 */
	void write(Schema schema, Map<Long, Field> dictionaryFields, List<RecordBatch> before, RecordBatch batch,
			BooleanSupplier goOn) {
		SpillFile target = this.file;
		if (target == null) {
			target = this.store.create(this.name, schema, dictionaryFields);
			this.file = target;
			this.counters.files.increment();
		}
		try {
			for (RecordBatch earlier : before) {
				if (!goOn.getAsBoolean()) {
					return;
				}
				target.append(earlier);
			}
			if (goOn.getAsBoolean()) {
				target.append(batch);
			}
		}
		finally {
			count(target);
		}
	}

	void finish() {
		SpillFile target = this.file;
		if (target != null) {
			try {
				target.finish();
			}
			finally {
				count(target);
			}
		}
	}

	private void count(SpillFile target) {
		long added = target.bytes() - this.counted;
		this.counted += added;
		this.counters.diskUsed.add(added);
		this.counters.bytesWritten.add(added);
	}

	/**
	 * Reads a committed batch.
	 * @return the batch, owned by the caller
	 */
	RecordBatch read(int index) {
		SpillFile source = this.file;
		if (source == null) {
			throw new IllegalStateException("Spill '%s' has no file".formatted(this.name));
		}
		RecordBatch batch = source.read(index, this.verification);
		this.counters.bytesRead.add(source.length(index));
		return batch;
	}

	/**
	 * Deletes the file; called once, when no other call is in progress and none will
	 * come.
	 */
	void delete() {
		SpillFile target = this.file;
		if (target != null) {
			this.file = null;
			try {
				target.delete();
			}
			finally {
				this.counters.files.decrement();
				this.counters.diskUsed.add(-this.counted);
			}
		}
	}

	boolean hasFile() {
		return this.file != null;
	}

	long bytes() {
		SpillFile target = this.file;
		return (target != null) ? target.bytes() : 0;
	}

}
