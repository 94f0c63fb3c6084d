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

package org.lance.spring.source;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;

import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.AsyncIterator;
import org.lance.spring.stream.AsyncStep;
import org.lance.spring.stream.EngineFuture;
import org.lance.spring.stream.RecordBatch;

/**
 * The feed: feeder and consumer only note what they want. Whoever does so first runs the
 * loop that does it, for the other one too, so that nobody waits, the decoder has one
 * user at a time, and no continuation runs inside another one.
 */
final class PushFeed implements IpcFeed, AsyncStep<RecordBatch> {

	private final int readAhead;

	private final FedSource source;

	private final CompletableFuture<Void> released = new EngineFuture<>();

	/**
	 * Notes that the loop has not looked at yet; whoever raises it from 0 runs the loop.
	 */
	private final AtomicInteger notes = new AtomicInteger();

	private final Object lock = new Object();

	private final Deque<RecordBatch> ready = new ArrayDeque<>();

	private @Nullable ByteBuffer bytes;

	private @Nullable CompletableFuture<Void> feeding;

	private @Nullable CompletableFuture<Void> completing;

	private @Nullable CompletableFuture<Optional<RecordBatch>> waiting;

	private @Nullable Throwable failure;

	private long fed;

	/**
	 * The feeder said its last word.
	 */
	private boolean over;

	/**
	 * All bytes were decoded and nothing is missing.
	 */
	private boolean finished;

	private boolean gone;

	private boolean sourceAsked;

	PushFeed(BufferAllocator allocator, int readAhead,
			BiFunction<IpcSchema, AsyncIterator<RecordBatch>, StreamingWriteSource> maker) {
		this.source = new FedSource(allocator, (schema) -> maker.apply(schema, AsyncIterator.from(this)));
		this.readAhead = readAhead;
	}

	@Override
	public CompletionStage<StreamingWriteSource> source() {
		synchronized (this.lock) {
			this.sourceAsked = true;
		}
		return this.source.stage();
	}

	@Override
	public CompletionStage<Void> feed(ByteBuffer next) {
		CompletableFuture<Void> stage = new EngineFuture<>();
		synchronized (this.lock) {
			if (this.feeding != null || this.over) {
				return CompletableFuture.failedFuture(misuse());
			}
			this.feeding = stage;
			this.bytes = next;
			this.fed += next.remaining();
		}
		work();
		return stage;
	}

	@Override
	public CompletionStage<Void> complete() {
		CompletableFuture<Void> stage = new EngineFuture<>();
		synchronized (this.lock) {
			if (this.feeding != null || this.over) {
				return CompletableFuture.failedFuture(misuse());
			}
			this.over = true;
			this.completing = stage;
		}
		work();
		return stage;
	}

	private IllegalStateException misuse() {
		return new IllegalStateException(this.over ? "The feed was completed, failed or closed before"
				: "The stage of the last feed() is not complete; a feed takes one call at a time");
	}

	@Override
	public void fail(Throwable cause) {
		List<RecordBatch> unread;
		synchronized (this.lock) {
			if (this.over) {
				return;
			}
			this.over = true;
			this.failure = (this.failure != null) ? this.failure : cause;
			unread = List.copyOf(this.ready);
			this.ready.clear();
		}
		unread.forEach(RecordBatch::close);
		work();
	}

	@Override
	public void close() {
		boolean unused;
		long length;
		synchronized (this.lock) {
			unused = !this.sourceAsked;
			length = this.fed;
		}
		fail(new TruncatedIpcException(length, "the feed was closed before it was completed"));
		if (unused) {
			this.source.stage().thenAccept(StreamingWriteSource::close);
		}
	}

	@Override
	public CompletionStage<Optional<RecordBatch>> advance() {
		CompletableFuture<Optional<RecordBatch>> stage = new EngineFuture<>();
		synchronized (this.lock) {
			this.waiting = stage;
		}
		work();
		return stage;
	}

	@Override
	public void cancel() {
		CompletableFuture<Optional<RecordBatch>> cancelled;
		synchronized (this.lock) {
			cancelled = this.waiting;
			this.waiting = null;
		}
		if (cancelled != null) {
			cancelled.complete(Optional.empty());
		}
	}

	@Override
	public CompletionStage<Void> release() {
		List<RecordBatch> unread;
		synchronized (this.lock) {
			this.gone = true;
			if (!this.finished && this.failure == null) {
				this.failure = new CancellationException("The consumer of the fed batches went away");
			}
			unread = List.copyOf(this.ready);
			this.ready.clear();
		}
		unread.forEach(RecordBatch::close);
		work();
		return this.released;
	}

	/**
	 * Does whatever can be done now, unless somebody is already at it.
	 */
	private void work() {
		if (this.notes.getAndIncrement() > 0) {
			return;
		}
		int seen = 1;
		do {
			for (Runnable action = choose(); action != null; action = choose()) {
				action.run();
			}
			seen = this.notes.addAndGet(-seen);
		}
		while (seen > 0);
	}

	/**
	 * Decides under the lock what to do outside of it.
	 */
	private @Nullable Runnable choose() {
		synchronized (this.lock) {
			if (this.waiting != null && !this.ready.isEmpty()) {
				Optional<RecordBatch> batch = Optional.of(this.ready.remove());
				return completion(take(), batch, null);
			}
			boolean room = this.ready.size() <= this.readAhead;
			ByteBuffer from = this.bytes;
			if (from != null && from.hasRemaining() && this.failure == null && room) {
				return () -> decode(from);
			}
			if (this.feeding != null && (this.failure != null || room)) {
				CompletableFuture<Void> stage = this.feeding;
				this.feeding = null;
				this.bytes = null;
				return completion(stage, null, this.failure);
			}
			if (this.completing != null) {
				CompletableFuture<Void> stage = this.completing;
				this.completing = null;
				return () -> finish(stage);
			}
			return chooseEnd();
		}
	}

	private @Nullable Runnable chooseEnd() {
		Throwable reason = this.failure;
		if (reason != null && !this.source.stage().isDone()) {
			return completion(this.source.stage(), null, reason);
		}
		if (this.waiting != null && (reason != null || this.finished)) {
			return completion(take(), Optional.empty(), reason);
		}
		if (this.gone && !this.released.isDone()) {
			return () -> {
				this.source.close();
				this.released.complete(null);
			};
		}
		return null;
	}

	private CompletableFuture<Optional<RecordBatch>> take() {
		CompletableFuture<Optional<RecordBatch>> stage = this.waiting;
		this.waiting = null;
		return java.util.Objects.requireNonNull(stage);
	}

	@SuppressWarnings("NullAway")
	private static <T> Runnable completion(CompletableFuture<T> stage, @Nullable T value, @Nullable Throwable reason) {
		return (reason != null) ? () -> stage.completeExceptionally(reason) : () -> stage.complete(value);
	}

	private void decode(ByteBuffer from) {
		RecordBatch batch = null;
		Throwable reason = null;
		try {
			batch = this.source.decode(from);
		}
		catch (Throwable ex) {
			reason = ex;
		}
		boolean unwanted;
		synchronized (this.lock) {
			unwanted = this.failure != null;
			if (batch != null && !unwanted) {
				this.ready.add(batch);
			}
			this.failure = unwanted ? this.failure : reason;
		}
		if (batch != null && unwanted) {
			batch.close();
		}
	}

	private void finish(CompletableFuture<Void> stage) {
		Throwable reason = null;
		try {
			this.source.finish();
		}
		catch (Throwable ex) {
			reason = ex;
		}
		synchronized (this.lock) {
			reason = (this.failure != null) ? this.failure : reason;
			this.failure = reason;
			this.finished = reason == null;
		}
		completion(stage, null, reason).run();
	}

}
