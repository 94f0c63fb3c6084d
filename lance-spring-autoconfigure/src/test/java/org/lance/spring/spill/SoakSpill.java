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
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.concurrent.Future;

import org.apache.arrow.memory.OutOfMemoryException;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.stream.Failures;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;

/**
 * The life of one spill: how it is written, how that ends, and who reads it when.
 */
final class SoakSpill {

	/**
	 * How the writing is to end.
	 */
	enum Ending {

		FINISH, ERROR, ABANDON, CLOSE

	}

	final SoakRound round;

	final SoakPlan plan;

	final Ending ending;

	private final Random random;

	private final SpillMode mode;

	private final SpillOptions options;

	private final List<Future<?>> readers = new ArrayList<>();

	/**
	 * Whether the sender may have said that the stream is complete.
	 */
	volatile boolean complete;

	/**
	 * Whether somebody may have closed the spill.
	 */
	volatile boolean closed;

	SoakSpill(SoakRound round, long seed) {
		this.round = round;
		this.random = new Random(seed);
		this.plan = SoakPlan.of(this.random.nextLong());
		this.ending = (this.random.nextInt(3) != 0) ? Ending.FINISH
				: Ending.values()[this.random.nextInt(Ending.values().length)];
		this.mode = (this.random.nextInt(8) == 0) ? SpillMode.FAIL : SpillMode.SPILL;
		this.options = options();
	}

	private SpillOptions options() {
		SpillOptions changed = SpillOptions.DEFAULTS.withMode(this.mode);
		if (this.random.nextBoolean()) {
			changed = changed.withMemoryLimit(List.of(0, 1_000, 100_000, 1 << 30).get(this.random.nextInt(4)));
		}
		if (this.random.nextInt(4) == 0) {
			changed = changed.withCompression(SpillCompression.zstd(3)).withEncryption(this.random.nextBoolean());
		}
		if (this.random.nextInt(4) == 0) {
			changed = changed.withVerification(Verification.values()[this.random.nextInt(3)]);
		}
		return changed;
	}

	void run() {
		try {
			switch (this.random.nextInt(4)) {
				case 0 -> drainSource();
				case 1 -> materialize();
				default -> write();
			}
		}
		catch (Throwable ex) {
			failed(ex);
		}
		try {
			for (Future<?> reader : this.readers) {
				reader.get();
			}
		}
		catch (Exception ex) {
			this.round.report.fail(ex);
		}
		this.round.report.count("spills");
	}

	private void write() throws Exception {
		try (ReplaySpill spill = this.round.manager.createReplaySpill(this.plan.schema(), this.options);
				SoakPlan.Writer writer = this.plan.writer(this.round.own)) {
			open(spill.receiver(), 3);
			SpillSender sender = spill.sender();
			try {
				write(spill, sender, writer);
			}
			catch (Exception ex) {
				failed(ex);
			}
			open(spill.receiver(), 2);
			end(spill.receiver());
		}
	}

	private void write(ReplaySpill spill, SpillSender sender, SoakPlan.Writer writer) throws Exception {
		int count = this.plan.batches().size();
		int last = (this.ending == Ending.FINISH) ? count : this.random.nextInt(count + 1);
		int pause = this.random.nextInt(20);
		for (int i = 0; i < last; i++) {
			try (RecordBatch batch = writer.batch(i)) {
				sender.write(batch).toCompletableFuture().get();
			}
			this.round.report.count("batches written");
			this.round.report.count("rows written", this.plan.batches().get(i).rows());
			if (this.random.nextInt(20) == 0) {
				Thread.sleep(pause);
				open(spill.receiver(), 2);
			}
		}
		switch (this.ending) {
			case FINISH -> {
				this.complete = true;
				sender.finish().toCompletableFuture().get();
				this.round.report.count("spills finished");
			}
			case ERROR -> sender.sendError(new IllegalStateException("the soak's error"));
			case ABANDON -> sender.close();
			default -> {
				this.closed = true;
				spill.close();
			}
		}
	}

	/**
	 * Lets a source be drained, or a spill of a spill.
	 */
	private void drainSource() throws Exception {
		this.complete = this.ending == Ending.FINISH;
		StreamingWriteSource source = source();
		SpillReceiver first = null;
		try {
			if (this.random.nextInt(3) == 0) {
				first = this.round.manager.spill(source, this.options);
				source = first.source();
			}
			try (SpillReceiver receiver = this.round.manager.spill(source, this.options)) {
				open(receiver, 4);
				receiver.written().handle((written, ex) -> ex).toCompletableFuture().get();
				open(receiver, 2);
				end(receiver);
			}
		}
		finally {
			if (first != null) {
				this.closed = true;
				first.close();
				first.closed().toCompletableFuture().get();
			}
		}
	}

	private void materialize() throws Exception {
		this.complete = this.ending == Ending.FINISH;
		SpillReceiver receiver = this.round.manager.materialize(source(), this.options).toCompletableFuture().get();
		try (receiver) {
			open(receiver, 3);
			end(receiver);
		}
	}

	private StreamingWriteSource source() {
		Batches batches = new Batches();
		try {
			return StreamingWriteSource.of(RecordBatchStream.background(this.plan.schema(),
					this.plan.dictionaryFields(), batches, this.round.background, this.random.nextInt(3)));
		}
		catch (Throwable ex) {
			batches.close();
			throw ex;
		}
	}

	/**
	 * Opens up to that many readers.
	 */
	private void open(SpillReceiver receiver, int most) {
		for (int i = this.random.nextInt(most + 1); i > 0; i--) {
			SoakReader reader = new SoakReader(this, receiver, this.random.nextLong());
			this.readers.add(this.round.users.submit(reader::run));
		}
	}

	private void end(SpillReceiver receiver) throws Exception {
		if (this.random.nextBoolean()) {
			for (Future<?> reader : this.readers) {
				reader.get();
			}
		}
		this.closed = true;
		receiver.close();
		receiver.closed().toCompletableFuture().get();
	}

	/**
	 * Tells whether a failure is one that was to be expected.
	 */
	void failed(Throwable thrown) {
		Throwable failure = Failures.unwrap(thrown);
		this.round.report.count(failure);
		if (!isExpected(failure)) {
			this.round.report.fail(new AssertionError(
					"Spill of seed %d to end with %s, %s".formatted(this.plan.seed(), this.ending, this.options),
					failure));
		}
	}

	private boolean isExpected(Throwable failure) {
		if (failure instanceof SpillSourceFailedException) {
			// The source of a spill may be another spill, which fails in its own way.
			return this.ending != Ending.FINISH || isExpected(Failures.unwrap(failure.getCause()));
		}
		if (failure instanceof SpillAbandonedException) {
			return this.ending == Ending.ABANDON;
		}
		if (failure instanceof SpillClosedException) {
			return this.closed || this.round.ending;
		}
		if (failure instanceof SpillRejectedException) {
			return this.mode == SpillMode.FAIL;
		}
		if (failure instanceof SpillQuotaExceededException) {
			return this.round.diskIsLimited;
		}
		if (failure instanceof SpillGoneException) {
			return this.round.directoryIsUnsafe;
		}
		if (failure instanceof SpillIoException) {
			return this.round.directoryIsUnsafe || this.round.memoryIsShort;
		}
		return failure instanceof OutOfMemoryException && this.round.memoryIsShort;
	}

	/**
	 * The batches as a blocking source.
	 */
	private final class Batches implements Iterator<RecordBatch>, AutoCloseable {

		private final SoakPlan.Writer writer = SoakSpill.this.plan.writer(SoakSpill.this.round.own);

		private final int failing = (SoakSpill.this.ending == Ending.FINISH) ? Integer.MAX_VALUE
				: SoakSpill.this.random.nextInt(SoakSpill.this.plan.batches().size() + 1);

		private int next;

		@Override
		public boolean hasNext() {
			if (this.next == this.failing) {
				throw new IllegalStateException("the soak's error");
			}
			return this.next < SoakSpill.this.plan.batches().size();
		}

		@Override
		public RecordBatch next() {
			if (!hasNext()) {
				throw new NoSuchElementException();
			}
			SoakSpill.this.round.report.count("batches of sources");
			return this.writer.batch(this.next++);
		}

		@Override
		public void close() {
			this.writer.close();
		}

	}

}
