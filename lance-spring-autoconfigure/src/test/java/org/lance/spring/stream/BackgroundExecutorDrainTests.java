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

package org.lance.spring.stream;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests how a {@link BackgroundExecutor} lets its streams come to an end.
 */
class BackgroundExecutorDrainTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@Test
	void whenNoStreamIsOpenThenDrainEndsAtOnce() {
		BackgroundExecutor executor = this.engine.background(1);
		assertThat(executor.drain(LONG).toCompletableFuture()).isCompleted();
	}

	@Test
	void whenDrainingThenNewStreamsAreRefusedAndNoSlotIsLost() throws Exception {
		BackgroundExecutor executor = new BackgroundExecutor(this.engine.pool(1), 1);
		executor.drain(LONG);
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(StreamAdmissionException.class)
				.isThrownBy(() -> BackgroundIterator.of(List.of(1).iterator(), executor));
		}
		executor.resume();
		assertThat(EngineExtension.await(BackgroundIterator.of(List.of(1).iterator(), executor).collect()))
			.containsExactly(1);
	}

	@Test
	void whenDrainingThenAnOpenStreamComesToItsEnd() throws Exception {
		BackgroundExecutor executor = this.engine.background(1);
		BackgroundIterator<Integer> stream = BackgroundIterator.of(List.of(1, 2, 3).iterator(), executor);
		assertThat(EngineExtension.await(stream.next())).contains(1);
		CompletionStage<Void> drained = executor.drain(LONG);
		assertThat(drained.toCompletableFuture()).isNotDone();
		assertThat(EngineExtension.await(stream.collect())).containsExactly(2, 3);
		EngineExtension.await(drained);
		assertThat(executor.openStreams()).isZero();
	}

	@Test
	void whenTheGraceTimeIsOverThenOpenStreamsAreClosed() throws Exception {
		BackgroundExecutor executor = this.engine.background(1);
		Endless source = new Endless();
		BackgroundIterator<Integer> stream = BackgroundIterator.of(source, executor);
		CompletableFuture<Optional<Integer>> pending = stream.next().toCompletableFuture();
		assertThat(source.started.await(5, TimeUnit.SECONDS)).isTrue();
		CompletionStage<Void> drained = executor.drain(Duration.ZERO);
		assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> EngineExtension.await(pending));
		assertThat(drained.toCompletableFuture()).as("the source is still busy").isNotDone();
		source.go.countDown();
		EngineExtension.await(drained);
		assertThat(source.closed).isTrue();
	}

	@Test
	void whenResumedWhileDrainingThenTheDrainIsCancelledAndTheStreamLives() throws Exception {
		BackgroundExecutor executor = this.engine.background(1);
		BackgroundIterator<Integer> stream = BackgroundIterator.of(List.of(1).iterator(), executor);
		CompletionStage<Void> drained = executor.drain(LONG);
		executor.resume();
		assertThat(drained.toCompletableFuture()).isCompletedExceptionally();
		assertThat(EngineExtension.await(stream.collect())).containsExactly(1);
	}

	/**
	 * A source whose first item takes until it is let go.
	 */
	private static final class Endless implements Iterator<Integer>, AutoCloseable {

		private final CountDownLatch started = new CountDownLatch(1);

		private final CountDownLatch go = new CountDownLatch(1);

		private volatile boolean closed;

		@Override
		public boolean hasNext() {
			this.started.countDown();
			try {
				this.go.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			return true;
		}

		@Override
		public Integer next() {
			return 1;
		}

		@Override
		public void close() {
			this.closed = true;
		}

	}

}
