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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.lance.spring.stream.AsyncIterator;
import org.lance.spring.stream.AsyncLoop;
import org.lance.spring.stream.AsyncStep;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Feeding: backpressure, ends of all kinds on both sides, and no thread of its own.
 */
class IpcFeedTests {

	private static final Schema INTS = new Schema(List.of(Field.nullable("n", new ArrowType.Int(32, true))));

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private StreamingWriteSourceFactory factory;

	@BeforeEach
	void setUp() {
		this.factory = factory(1);
	}

	private StreamingWriteSourceFactory factory(int readAhead) {
		return new StreamingWriteSourceFactory(this.engine.allocator(), this.engine.background(1), readAhead);
	}

	@Test
	void whenDecodedBatchesWaitForTheirConsumerThenTheFeederIsHeldBack() throws Exception {
		IpcFeed feed = this.engine.closeLater(this.factory.ipcFeed());
		CompletableFuture<Void> fed = feed.feed(ByteBuffer.wrap(ints(4))).toCompletableFuture();
		RecordBatchStream stream = EngineExtension.await(feed.source()).intoStream();
		assertThat(fed).isNotDone();
		take(stream);
		take(stream);
		// Two of four are left, one more than the read-ahead.
		assertThat(fed).isNotDone();
		take(stream);
		assertThat(fed).isCompleted();
		EngineExtension.await(feed.complete());
		take(stream);
		assertThat(EngineExtension.await(stream.next())).isEmpty();
	}

	@Test
	void whenNobodyTakesABatchThenNoMoreThanTheReadAheadAndOneAreDecoded() {
		byte[] data = ints(50);
		IpcFeed feed = this.factory.ipcFeed();
		feed.feed(ByteBuffer.wrap(data));
		assertThat(this.engine.allocator().getAllocatedMemory()).isLessThan(3 * 256);
		feed.close();
	}

	@Test
	void whenTheConsumerGoesAwayThenPendingAndLaterFeedsAreCancelled() throws Exception {
		IpcFeed feed = this.engine.closeLater(this.factory.ipcFeed());
		CompletableFuture<Void> fed = feed.feed(ByteBuffer.wrap(ints(4))).toCompletableFuture();
		RecordBatchStream stream = EngineExtension.await(feed.source()).intoStream();
		take(stream);
		stream.close();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(fed::join);
		assertThatExceptionOfType(CancellationException.class)
			.isThrownBy(() -> feed.feed(ByteBuffer.wrap(new byte[8])).toCompletableFuture().join());
		EngineExtension.await(stream.closed());
		assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
	}

	@Test
	void whenTheSourceIsClosedUnusedThenTheFeedIsCancelled() throws Exception {
		IpcFeed feed = this.engine.closeLater(this.factory.ipcFeed());
		CompletableFuture<Void> fed = feed.feed(ByteBuffer.wrap(ints(4))).toCompletableFuture();
		EngineExtension.await(feed.source()).close();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(fed::join);
	}

	@Test
	void whenTheFeedIsClosedBeforeItIsCompleteThenTheConsumerFails() throws Exception {
		IpcFeed feed = this.factory.ipcFeed();
		feed.feed(ByteBuffer.wrap(ints(1)));
		RecordBatchStream stream = EngineExtension.await(feed.source()).intoStream();
		take(stream);
		CompletableFuture<Optional<RecordBatch>> next = stream.next().toCompletableFuture();
		assertThat(next).isNotDone();
		feed.close();
		assertThat(next).failsWithin(java.time.Duration.ZERO)
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(TruncatedIpcException.class);
		stream.close();
	}

	@Test
	void whenTheFeederFailsThenTheNextStepFailsWithThatCause() throws Exception {
		IOError boom = new IOError();
		IpcFeed feed = this.engine.closeLater(this.factory.ipcFeed());
		feed.feed(ByteBuffer.wrap(ints(2)));
		RecordBatchStream stream = EngineExtension.await(feed.source()).intoStream();
		feed.fail(boom);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(stream.next()))
			.withCause(boom);
		assertThat(stream.closed().toCompletableFuture()).as("without being closed").isCompleted();
		assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(stream.next()))
			.withCauseInstanceOf(IllegalStateException.class)
			.havingRootCause()
			.isSameAs(boom);
	}

	/**
	 * The half of a batch that was fed is given back too.
	 */
	@Test
	void whenTheDataEndOrFailThenTheStreamIsReleasedWithoutBeingClosed() throws Exception {
		for (boolean end : new boolean[] { true, false }) {
			byte[] data = ints(2);
			IpcFeed feed = this.engine.closeLater(this.factory.ipcFeed());
			feed.feed(ByteBuffer.wrap(data, 0, data.length - (end ? 0 : 20)));
			RecordBatchStream stream = EngineExtension.await(feed.source()).intoStream();
			CompletionStage<Void> read = AsyncLoop.repeat(() -> stream.next().thenApply((next) -> {
				next.ifPresent(RecordBatch::close);
				return next.isPresent();
			}));
			feed.complete();
			EngineExtension.await(read.exceptionally((failure) -> null));
			assertThat(stream.closed().toCompletableFuture()).isCompleted();
			assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
		}
	}

	/**
	 * The consumer goes away after its step was noted and before the feed knows of it.
	 */
	@Test
	void whenTheConsumerGoesAwayJustBeforeItsStepThenTheFeederIsTold() throws Exception {
		AtomicReference<AsyncIterator<RecordBatch>> closing = new AtomicReference<>();
		PushFeed feed = this.engine.closeLater(new PushFeed(this.engine.allocator(), 1,
				(schema, batches) -> StreamingWriteSource.of(RecordBatchStream.from(INTS, Map.of(), new NoStep()))));
		closing.set(AsyncIterator.from(new AsyncStep<>() {

			@Override
			public CompletionStage<Optional<RecordBatch>> advance() {
				closing.get().close();
				return feed.advance();
			}

			@Override
			public void cancel() {
				feed.cancel();
			}

			@Override
			public CompletionStage<Void> release() {
				return feed.release();
			}

		}));
		closing.get().next();
		assertThat(closing.get().closed().toCompletableFuture()).isCompleted();
		assertThatExceptionOfType(CancellationException.class)
			.isThrownBy(() -> EngineExtension.await(feed.feed(ByteBuffer.wrap(ints(4)))));
	}

	@Test
	void whenTheFeederFailsBeforeTheSchemaThenTheSourceFailsWithThatCause() {
		IOError boom = new IOError();
		IpcFeed feed = this.engine.closeLater(this.factory.ipcFeed());
		CompletableFuture<StreamingWriteSource> source = feed.source().toCompletableFuture();
		feed.fail(boom);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(source))
			.withCause(boom);
	}

	@Test
	void whenTheDataAreMalformedThenFeederAndConsumerAreTold() throws Exception {
		byte[] data = ints(2);
		byte[] broken = new IpcBytes().raw(java.util.Arrays.copyOf(data, data.length - 8))
			.raw(new byte[] { -1, -1, -1, -1, 9, -1, -1, -1 })
			.toByteArray();
		IpcFeed feed = this.engine.closeLater(factory(5).ipcFeed());
		CompletionStage<Void> fed = feed.feed(ByteBuffer.wrap(broken));
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(fed))
			.withCauseInstanceOf(MalformedIpcException.class);
		RecordBatchStream stream = EngineExtension.await(feed.source()).intoStream();
		take(stream);
		take(stream);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(stream.next()))
			.withCauseInstanceOf(MalformedIpcException.class);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(feed.complete()))
			.withCauseInstanceOf(MalformedIpcException.class);
		stream.close();
	}

	@Test
	void whenTheDataAreCutThenCompleteFails() throws Exception {
		byte[] data = ints(1);
		IpcFeed feed = this.engine.closeLater(this.factory.ipcFeed());
		feed.feed(ByteBuffer.wrap(data, 0, data.length - 8));
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(feed.complete()))
			.withCauseInstanceOf(TruncatedIpcException.class);
		RecordBatchStream stream = EngineExtension.await(feed.source()).intoStream();
		take(stream);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(stream.next()))
			.withCauseInstanceOf(TruncatedIpcException.class);
		stream.close();
	}

	@Test
	void whenTheFeedIsMisusedThenTheStageSaysSo() {
		IpcFeed feed = this.engine.closeLater(this.factory.ipcFeed());
		assertThat(feed.feed(ByteBuffer.wrap(ints(5))).toCompletableFuture()).isNotDone();
		for (CompletionStage<Void> wrong : List.of(feed.feed(ByteBuffer.allocate(1)), feed.complete())) {
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(wrong))
				.withCauseInstanceOf(IllegalStateException.class)
				.withMessageContaining("not complete");
		}
		feed.fail(new IOError());
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> EngineExtension.await(feed.feed(ByteBuffer.allocate(1))))
			.withCauseInstanceOf(IllegalStateException.class);
	}

	@Test
	void whenNobodyAsksForTheSourceThenClosingTheFeedGivesEverythingBack() throws Exception {
		IpcFeed feed = factory(10).ipcFeed();
		EngineExtension.await(feed.feed(ByteBuffer.wrap(ints(3))));
		EngineExtension.await(feed.complete());
		assertThat(this.engine.allocator().getAllocatedMemory()).isPositive();
		feed.close();
		assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
	}

	@Test
	void whenThousandsOfBatchesComeAtOnceThenTheStackDoesNotGrow() throws Exception {
		Schema nulls = new Schema(List.of(Field.nullable("n", ArrowType.Null.INSTANCE)));
		byte[] batch = new IpcBytes().batch(nulls, (root) -> root.setRowCount(1)).toByteArray();
		IpcBytes data = new IpcBytes().schema(nulls);
		for (int i = 0; i < 100_000; i++) {
			data.raw(batch);
		}
		byte[] bytes = data.end();
		IpcFeed feed = this.engine.closeLater(this.factory.ipcFeed());
		AtomicInteger rows = new AtomicInteger();
		CompletionStage<Void> read = feed.source().thenCompose((source) -> source.intoStream().forEach((next) -> {
			rows.addAndGet(next.rowCount());
			next.close();
		}));
		Thread feeder = new Thread(null, () -> GoldenSourceTests.feed(feed, bytes, 10_000), "small stack", 256 * 1024);
		feeder.start();
		feeder.join();
		EngineExtension.await(read);
		assertThat(rows).hasValue(100_000);
	}

	@Test
	void whenFeederAndConsumerRunOnDifferentThreadsThenNothingIsLost() throws Exception {
		byte[] data = ints(20);
		Executor threads = this.engine.pool(4);
		for (int round = 0; round < 100; round++) {
			Random random = new Random(round);
			IpcFeed feed = factory(round % 3).ipcFeed();
			List<Integer> values = new ArrayList<>();
			CompletionStage<Void> read = feed.source()
				.thenComposeAsync((source) -> AsyncLoop.drain(source.intoStream(), (batch) -> {
					values.add(value(batch));
					batch.close();
					return random.nextBoolean() ? null : CompletableFuture.runAsync(() -> {
					}, threads);
				}), threads);
			int[] position = { 0 };
			Random chunks = new Random(-round);
			CompletionStage<Void> fed = AsyncLoop.repeat(() -> {
				if (position[0] == data.length) {
					return feed.complete().thenApply((done) -> false);
				}
				int length = Math.min(1 + chunks.nextInt(700), data.length - position[0]);
				ByteBuffer next = ByteBuffer.wrap(data, position[0], length);
				position[0] += length;
				return feed.feed(next).thenApplyAsync((done) -> true, threads);
			});
			EngineExtension.await(fed);
			EngineExtension.await(read);
			feed.close();
			assertThat(values).as("round %d", round).hasSize(20).isSorted();
		}
	}

	@Test
	void whenTheConsumerGoesAwayInTheMiddleOfADecodeThenNothingIsLeft() throws Exception {
		byte[] data = ints(30);
		Executor threads = this.engine.pool(2);
		for (int round = 0; round < 150; round++) {
			IpcFeed feed = factory(3).ipcFeed();
			feed.feed(ByteBuffer.wrap(data, 0, 200));
			RecordBatchStream stream = EngineExtension.await(feed.source()).intoStream();
			CompletableFuture<Void> fed = CompletableFuture.runAsync(() -> feed.feed(ByteBuffer.wrap(data, 200, 4000)),
					threads);
			stream.next().thenAccept((batch) -> batch.ifPresent(RecordBatch::close));
			CompletableFuture<Void> gone = CompletableFuture.runAsync((round % 2 == 0) ? stream::close : feed::close,
					threads);
			EngineExtension.await(fed);
			EngineExtension.await(gone);
			feed.close();
			stream.close();
			EngineExtension.await(stream.closed());
			assertThat(this.engine.allocator().getAllocatedMemory()).as("round %d", round).isZero();
		}
	}

	@Test
	void whenTheStageOfTheSourceIsCancelledThenTheFeedIsCancelled() {
		IpcFeed feed = this.engine.closeLater(this.factory.ipcFeed());
		feed.source().toCompletableFuture().cancel(false);
		assertThatExceptionOfType(CancellationException.class)
			.isThrownBy(() -> feed.feed(ByteBuffer.wrap(ints(4))).toCompletableFuture().join());
	}

	private void take(RecordBatchStream stream) throws Exception {
		EngineExtension.await(stream.next()).orElseThrow().close();
	}

	private int value(RecordBatch batch) {
		return batch.body().getBuffers().get(1).getInt(0);
	}

	/**
	 * A stream of that many batches of one row, the number of the batch.
	 */
	private static byte[] ints(int batches) {
		try (BufferAllocator allocator = new RootAllocator();
				VectorSchemaRoot root = VectorSchemaRoot.create(INTS, allocator)) {
			Runnable[] fillers = new Runnable[batches];
			for (int i = 0; i < batches; i++) {
				int value = i;
				fillers[i] = () -> {
					((IntVector) root.getVector(0)).setSafe(0, value);
					root.setRowCount(1);
				};
			}
			return IpcBytes.stream(root, null, fillers);
		}
	}

	/**
	 * The step of a stream that nobody reads.
	 */
	private static final class NoStep implements AsyncStep<RecordBatch> {

		@Override
		public CompletionStage<Optional<RecordBatch>> advance() {
			return CompletableFuture.completedFuture(Optional.empty());
		}

		@Override
		public CompletionStage<Void> release() {
			return CompletableFuture.completedFuture(null);
		}

	}

	/**
	 * A failure that is no other.
	 */
	private static final class IOError extends RuntimeException {

	}

}
