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

package org.lance.spring.dataset;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.stream.EngineFuture;
import org.lance.spring.stream.EngineThreads;
import org.lance.spring.stream.Failures;
import org.lance.spring.stream.RecordBatchStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One write, from waiting to its end. Runs on a thread of the pool: first looks at the
 * table, then writes. In between it holds no thread while it waits for the first batch of
 * a source whose dictionaries are not known before.
 */
final class WriteJob implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(WriteJob.class);

	private final String uri;

	private final LanceWriteMode mode;

	private final StreamingWriteSource source;

	private final NativeDatasets datasets;

	private final BufferAllocator allocator;

	private final WritePool pool;

	private final @Nullable ClassLoader contextClassLoader;

	private final EngineFuture<LanceWriteResult> future = new EngineFuture<>();

	private final CompletableFuture<Void> ended = new CompletableFuture<>();

	private State state = State.WAITING;

	private @Nullable Throwable stopped;

	private @Nullable RecordBatchStream stream;

	private @Nullable WriteReader reader;

	private long start;

	WriteJob(String uri, LanceWriteMode mode, StreamingWriteSource source, NativeDatasets datasets,
			BufferAllocator allocator, WritePool pool) {
		this.uri = uri;
		this.mode = mode;
		this.source = source;
		this.datasets = datasets;
		this.allocator = allocator;
		this.pool = pool;
		this.contextClassLoader = Thread.currentThread().getContextClassLoader();
		this.future.whenComplete((result, failure) -> {
			if (this.future.isCancelled() && failure != null) {
				stop(failure);
			}
		});
	}

	String uri() {
		return this.uri;
	}

	LanceWriteMode mode() {
		return this.mode;
	}

	EngineFuture<LanceWriteResult> future() {
		return this.future;
	}

	/**
	 * The future that ends with this write, whatever became of it.
	 */
	CompletableFuture<Void> ended() {
		return this.ended;
	}

	/**
	 * Makes this write fail. Has no effect once the last batch was handed over.
	 * @param reason what it fails with
	 */
	void stop(Throwable reason) {
		RecordBatchStream open;
		WriteReader pulled;
		boolean waiting;
		synchronized (this) {
			if (this.state == State.ENDED || this.stopped != null) {
				return;
			}
			this.stopped = reason;
			waiting = this.state == State.WAITING;
			if (waiting) {
				// So that run() does not begin meanwhile.
				this.state = State.RUNNING;
			}
			open = this.stream;
			pulled = this.reader;
		}
		if (waiting) {
			end(null, reason);
		}
		else if (pulled != null) {
			pulled.fail(reason);
		}
		else if (open != null) {
			open.close();
		}
	}

	/**
	 * Ends this write unless it is running: no thread could be started for it.
	 * @param reason why
	 */
	void fail(Throwable reason) {
		synchronized (this) {
			if (this.state != State.WAITING) {
				return;
			}
			this.state = State.RUNNING;
		}
		end(null, noThread(reason));
	}

	private LanceWriteException noThread(Throwable reason) {
		return new LanceWriteException(("Writing dataset '%s' failed, because no thread could be started for it: %s. "
				+ "Try again, with fewer threads or more memory outside of the heap")
			.formatted(this.uri, reason), this.uri, reason);
	}

	@Override
	public void run() {
		synchronized (this) {
			if (this.state != State.WAITING) {
				return;
			}
			this.state = State.RUNNING;
		}
		this.start = System.nanoTime();
		try {
			prepare();
		}
		catch (Throwable ex) {
			end(null, ex);
		}
	}

	private void prepare() {
		Schema schema = this.source.arrowSchema();
		NativeDatasets.@Nullable Existing table = this.datasets.find(this.uri);
		if (table != null && this.mode == LanceWriteMode.CREATE) {
			throw NativeFailures.exists(this.uri, null);
		}
		if (table == null && this.mode == LanceWriteMode.APPEND) {
			throw NativeFailures.notFound(this.uri, null);
		}
		NativeDatasets.@Nullable Existing target = (this.mode == LanceWriteMode.APPEND) ? table : null;
		Schema nullability = (target != null) ? AppendSchema.check(target.schema(), schema) : schema;
		NullCheck nulls = new NullCheck(nullability, this.allocator);
		VectorCheck vectors = new VectorCheck(schema);
		NullStructCheck structs = new NullStructCheck(schema, this.allocator);
		CheckedStep step = new CheckedStep(open(), (batch) -> {
			nulls.check(batch);
			vectors.check(batch);
			structs.check(batch);
		}, new NativeAlignment(schema, this.allocator));
		try {
			Map<Long, Field> known = known();
			if (known.keySet().containsAll(DictionaryIds.of(schema))) {
				write(step, schema, target, known);
				return;
			}
		}
		catch (Throwable ex) {
			step.release();
			throw ex;
		}
		AtomicBoolean taken = new AtomicBoolean();
		step.peek().whenComplete((peeked, failure) -> this.pool.execute(() -> {
			try {
				if (!taken.compareAndSet(false, true)) {
					return;
				}
				if (peeked == null) {
					throw sourceFailed(step, Failures.unwrap(failure));
				}
				write(step, schema, target, peeked);
			}
			catch (Throwable ex) {
				step.release();
				end(null, ex);
			}
		}, (ex) -> {
			if (taken.compareAndSet(false, true)) {
				step.release();
				end(null, noThread(ex));
			}
		}));
	}

	private Map<Long, Field> known() {
		RecordBatchStream open = this.stream;
		return (open != null) ? open.dictionaryFields() : Map.of();
	}

	private RecordBatchStream open() {
		RecordBatchStream open;
		try {
			open = this.source.intoStream();
		}
		catch (Throwable ex) {
			throw sourceFailed(null, ex);
		}
		synchronized (this) {
			this.stream = open;
			if (this.stopped == null) {
				return open;
			}
		}
		open.close();
		throw new CancellationException();
	}

	private void write(CheckedStep step, Schema schema, NativeDatasets.@Nullable Existing table,
			Map<Long, Field> dictionaryFields) {
		StorableSchema.checkDictionaries(schema, dictionaryFields);
		DictionaryIds.checkAllKnown(schema, dictionaryFields.keySet());
		if (table != null) {
			AppendSchema.checkDictionaries(table.schema(), table.dictionaryFields(), schema, dictionaryFields);
		}
		WriteReader pulled = new WriteReader(RecordBatchStream.from(schema, dictionaryFields, step), this.allocator,
				this.contextClassLoader);
		Throwable reason;
		synchronized (this) {
			this.reader = pulled;
			reason = this.stopped;
		}
		if (reason != null) {
			pulled.fail(reason);
		}
		try {
			long version = this.datasets.write(this.uri, this.mode, pulled);
			end(new LanceWriteResult(version, pulled.rows(), pulled.batches(), pulled.bytes(), 1,
					Duration.ofNanos(System.nanoTime() - this.start)), null);
		}
		catch (Throwable ex) {
			Throwable first = pulled.failure();
			end(null, (first != null) ? sourceFailed(step, first) : NativeFailures.ofWrite(this.uri, ex));
		}
	}

	/**
	 * A batch that was refused here is the caller's to know as it is; everything else
	 * that came out of the source is the cause.
	 */
	private RuntimeException sourceFailed(@Nullable CheckedStep step, Throwable failure) {
		if (step != null && step.isRefusal(failure) && failure instanceof RuntimeException refusal) {
			return refusal;
		}
		return new LanceWriteException(
				"Writing dataset '%s' failed, because its source failed: %s".formatted(this.uri, failure), this.uri,
				failure);
	}

	private void end(@Nullable LanceWriteResult result, @Nullable Throwable failure) {
		Throwable reason;
		synchronized (this) {
			if (this.state == State.ENDED) {
				return;
			}
			this.state = State.ENDED;
			reason = (this.stopped != null) ? this.stopped : failure;
			this.stream = null;
			this.reader = null;
		}
		try {
			this.source.close();
		}
		catch (RuntimeException ex) {
			logger.warn("The source of a write to '{}' could not be closed", this.uri, ex);
		}
		this.pool.leave(this);
		EngineThreads.run(() -> {
			if (result != null) {
				this.future.complete(result);
			}
			else {
				this.future.completeExceptionally(failure(reason));
			}
			this.ended.complete(null);
		});
		this.pool.finished(this);
	}

	private Throwable failure(@Nullable Throwable reason) {
		if (reason instanceof RuntimeException known) {
			return known;
		}
		return new LanceWriteException("Writing dataset '%s' failed: %s".formatted(this.uri, reason), this.uri, reason);
	}

	private enum State {

		WAITING, RUNNING, ENDED

	}

}
