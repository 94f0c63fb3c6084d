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

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

import org.apache.arrow.memory.OutOfMemoryException;
import org.lance.spring.stream.Failures;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;

/**
 * One reader of a spill: fast or slow, to the end or not, by one of the views of a
 * stream.
 */
final class SoakReader {

	private final SoakSpill spill;

	private final SoakReport report;

	private final SpillReceiver receiver;

	private final Random random;

	/**
	 * Before which batch the reader goes away.
	 */
	private final int cancelAt;

	private final int pause;

	private final boolean keeps;

	private final Deque<Kept> kept = new ArrayDeque<>();

	private volatile boolean cancelled;

	private int next;

	SoakReader(SoakSpill spill, SpillReceiver receiver, long seed) {
		this.spill = spill;
		this.report = spill.round.report;
		this.receiver = receiver;
		this.random = new Random(seed);
		this.cancelAt = (this.random.nextInt(4) == 0) ? this.random.nextInt(20) : Integer.MAX_VALUE;
		this.pause = (this.random.nextInt(5) == 0) ? 1 + this.random.nextInt(5) : 0;
		this.keeps = this.random.nextInt(4) == 0;
	}

	void run() {
		this.report.count("readers");
		try {
			read();
			if (!this.cancelled) {
				ended();
			}
		}
		catch (CancellationException ex) {
			if (!this.cancelled) {
				this.report.fail(new AssertionError("Nobody cancelled this reader", ex));
			}
		}
		catch (Throwable ex) {
			failed(ex);
		}
		try {
			this.kept.forEach(this::checkAgain);
		}
		catch (Throwable ex) {
			failed(ex);
		}
		this.kept.forEach((batch) -> batch.batch().close());
	}

	private void failed(Throwable thrown) {
		Throwable failure = Failures.unwrap(thrown);
		if (failure instanceof AssertionError) {
			this.report.fail(new AssertionError("A reader of the spill of seed %d, ending %s, at batch %d"
				.formatted(this.spill.plan.seed(), this.spill.ending, this.next), failure));
		}
		else {
			this.spill.failed(failure);
		}
	}

	private void ended() {
		if (!this.spill.complete) {
			throw new AssertionError("The stream ends before it was complete");
		}
		int count = this.spill.plan.batches().size();
		if (this.next != count) {
			throw new AssertionError("The stream ends after %d batches of %d".formatted(this.next, count));
		}
		this.report.count("readers that read all");
	}

	private void read() throws Exception {
		try (RecordBatchStream stream = this.receiver.read()) {
			switch (this.random.nextInt(5)) {
				case 0 -> collect(stream);
				case 1 -> iterate(stream);
				case 2 -> subscribe(stream);
				default -> pull(stream);
			}
		}
	}

	private void pull(RecordBatchStream stream) throws Exception {
		while (true) {
			CompletionStage<Optional<RecordBatch>> step;
			if (this.next >= this.cancelAt) {
				cancel(stream);
				return;
			}
			step = stream.next();
			Optional<RecordBatch> item = step.toCompletableFuture().get();
			if (item.isEmpty()) {
				return;
			}
			take(item.get());
			pause();
		}
	}

	private void cancel(RecordBatchStream stream) throws Exception {
		this.cancelled = true;
		this.report.count("readers cancelled");
		CompletableFuture<Optional<RecordBatch>> step = this.random.nextBoolean() ? stream.next().toCompletableFuture()
				: null;
		pause();
		if (step != null && this.random.nextInt(3) == 0) {
			// The caller gives up by itself.
			step.cancel(false);
		}
		stream.close();
		stream.closed().toCompletableFuture().get();
		if (step != null) {
			try {
				step.get().ifPresent(this::take);
			}
			catch (CancellationException ex) {
				this.report.count("steps cancelled");
			}
		}
	}

	private void collect(RecordBatchStream stream) throws Exception {
		List<RecordBatch> batches = stream.collect().toCompletableFuture().get();
		try {
			for (RecordBatch batch : batches) {
				take(batch.share());
			}
		}
		finally {
			batches.forEach(RecordBatch::close);
		}
	}

	private void iterate(RecordBatchStream stream) throws Exception {
		Iterator<RecordBatch> iterator = stream.blocking();
		while (iterator.hasNext()) {
			if (this.next >= this.cancelAt) {
				this.cancelled = true;
				this.report.count("readers cancelled");
				return;
			}
			take(iterator.next());
			pause();
		}
	}

	private void subscribe(RecordBatchStream stream) throws Exception {
		CompletableFuture<Void> end = new CompletableFuture<>();
		stream.subscribe(new Flow.Subscriber<>() {

			private Flow.Subscription subscription;

			@Override
			public void onSubscribe(Flow.Subscription subscription) {
				this.subscription = subscription;
				subscription.request(1);
			}

			@Override
			public void onNext(RecordBatch batch) {
				try {
					take(batch);
				}
				catch (Throwable ex) {
					this.subscription.cancel();
					end.completeExceptionally(ex);
					return;
				}
				if (SoakReader.this.next >= SoakReader.this.cancelAt) {
					SoakReader.this.cancelled = true;
					SoakReader.this.report.count("readers cancelled");
					this.subscription.cancel();
					end.complete(null);
				}
				else {
					this.subscription.request(1 + SoakReader.this.random.nextInt(2));
				}
			}

			@Override
			public void onError(Throwable failure) {
				end.completeExceptionally(failure);
			}

			@Override
			public void onComplete() {
				end.complete(null);
			}

		});
		end.get();
	}

	private void pause() throws InterruptedException {
		if (this.pause > 0) {
			Thread.sleep(this.pause);
		}
	}

	private void take(RecordBatch batch) {
		try (batch) {
			int index = this.next++;
			check(index, batch);
			this.report.count("batches read");
			this.report.count("rows read", batch.rowCount());
			if (this.keeps && this.kept.size() < 3) {
				this.kept.add(new Kept(index, batch.share()));
			}
		}
	}

	private void checkAgain(Kept batch) {
		check(batch.index(), batch.batch());
		this.report.count("batches kept beyond their stream");
	}

	private void check(int index, RecordBatch batch) {
		try {
			this.spill.plan.check(index, batch, this.spill.round.own);
		}
		catch (OutOfMemoryException ex) {
			// A dictionary is put together in the memory of the spills.
			if (!this.spill.round.memoryIsShort) {
				throw ex;
			}
			this.report.count(ex);
		}
	}

	/**
	 * A batch that outlives its stream and its spill.
	 *
	 * @param index which it is
	 * @param batch the batch, owned
	 */
	private record Kept(int index, RecordBatch batch) {

	}

}
