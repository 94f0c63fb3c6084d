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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.RecordBatch;

/**
 * Spill files that are none: batches stay in memory. Each call can be made to fail or to
 * wait, and the rules of {@link SpillFile} are checked.
 */
final class FakeStore implements SpillFile.Store {

	final List<FakeFile> files = new ArrayList<>();

	final AtomicInteger reclaims = new AtomicInteger();

	private final ByteBudget budget = new ByteBudget(ByteBudget.UNLIMITED);

	volatile boolean closed;

	/**
	 * Runs before each file call, with what it is about to do: {@code create},
	 * {@code append 3}, {@code finish}, {@code read 2}, {@code delete}.
	 */
	volatile Consumer<String> before = (call) -> {
	};

	/**
	 * Holds up each call of a kind, on its thread.
	 */
	Gate holdUp(String held) {
		Gate gate = new Gate();
		this.before = (call) -> {
			if (call.equals(held)) {
				gate.pass();
			}
		};
		return gate;
	}

	@Override
	public SpillFile create(String name, Schema schema, Map<Long, Field> dictionaryFields, SpillFormat format) {
		this.before.accept("create");
		FakeFile file = new FakeFile(schema, dictionaryFields, format);
		synchronized (this.files) {
			this.files.add(file);
		}
		return file;
	}

	@Override
	public ByteBudget budget() {
		return this.budget;
	}

	@Override
	public int reclaim() {
		this.before.accept("reclaim");
		return this.reclaims.get();
	}

	@Override
	public void close() {
		synchronized (this.files) {
			if (this.closed || this.files.stream().anyMatch((file) -> !file.deleted)) {
				throw new AssertionError("Closed twice, or with files");
			}
		}
		this.closed = true;
	}

	FakeFile file(int index) {
		synchronized (this.files) {
			return this.files.get(index);
		}
	}

	int fileCount() {
		synchronized (this.files) {
			return this.files.size();
		}
	}

	final class FakeFile implements SpillFile {

		final Schema schema;

		final Map<Long, Field> dictionaryFields;

		final SpillFormat format;

		private final List<RecordBatch> batches = new ArrayList<>();

		private final AtomicInteger appending = new AtomicInteger();

		private final AtomicInteger calls = new AtomicInteger();

		private volatile long bytes = 8;

		volatile boolean finished;

		volatile boolean failed;

		volatile boolean deleted;

		FakeFile(Schema schema, Map<Long, Field> dictionaryFields, SpillFormat format) {
			this.schema = schema;
			this.dictionaryFields = dictionaryFields;
			FakeStore.this.budget.tryReserve(this.bytes);
			this.format = format;
		}

		@Override
		public void append(RecordBatch batch) {
			begin();
			if (this.appending.incrementAndGet() != 1 || this.failed || this.finished) {
				throw new AssertionError("Two appends at once, or an append after the end or a failure");
			}
			try {
				FakeStore.this.before.accept("append " + batches());
				synchronized (this.batches) {
					this.batches.add(batch.share());
					this.bytes += batch.memorySize();
					FakeStore.this.budget.tryReserve(batch.memorySize());
				}
			}
			catch (Throwable ex) {
				this.failed = true;
				throw ex;
			}
			finally {
				this.appending.decrementAndGet();
				this.calls.decrementAndGet();
			}
		}

		@Override
		public void finish() {
			begin();
			try {
				FakeStore.this.before.accept("finish");
				this.finished = true;
			}
			finally {
				this.calls.decrementAndGet();
			}
		}

		@Override
		public int batches() {
			synchronized (this.batches) {
				return this.batches.size();
			}
		}

		@Override
		public long bytes() {
			return this.bytes;
		}

		@Override
		public long length(int index) {
			synchronized (this.batches) {
				return this.batches.get(index).memorySize();
			}
		}

		@Override
		public RecordBatch read(int index, Verification verification) {
			begin();
			try {
				FakeStore.this.before.accept("read " + index);
				synchronized (this.batches) {
					return this.batches.get(index).share();
				}
			}
			finally {
				this.calls.decrementAndGet();
			}
		}

		@Override
		public void delete() {
			if (this.deleted || this.calls.get() != 0) {
				throw new AssertionError("Deleted twice, or while a call is in progress");
			}
			FakeStore.this.before.accept("delete");
			this.deleted = true;
			FakeStore.this.budget.giveBack(this.bytes);
			this.batches.forEach(RecordBatch::close);
		}

		private void begin() {
			this.calls.incrementAndGet();
			if (this.deleted) {
				throw new AssertionError("Used after it was deleted");
			}
		}

	}

}
