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

import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;
import org.lance.spring.stream.AsyncIterator;
import org.lance.spring.stream.AsyncStep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A first step that nobody waits for any more, at each point.
 */
class FirstStepTests {

	private final Step step = new Step();

	private final AsyncIterator<String> iterator = AsyncIterator.from(this.step);

	private final AtomicInteger closed = new AtomicInteger();

	@Test
	void whenTheCallerGivesUpThenTheSourceIsReleasedWithoutAnAnswerOfIt() {
		CompletableFuture<String> result = FirstStep
			.of(this.iterator, Optional::orElseThrow, (made) -> this.closed.incrementAndGet())
			.toCompletableFuture();
		result.cancel(false);
		assertThat(this.step.released).isOne();
		assertThat(this.iterator.closed().toCompletableFuture()).isCompleted();
		assertThat(this.closed).hasValue(0);
	}

	@Test
	void whenTheCallerGivesUpWhileTheResultIsMadeThenThatIsClosed() {
		AtomicReference<CompletableFuture<String>> result = new AtomicReference<>();
		result.set(FirstStep.of(this.iterator, (first) -> {
			result.get().cancel(false);
			return first.orElseThrow();
		}, (made) -> this.closed.incrementAndGet()).toCompletableFuture());
		this.step.pending.complete(Optional.of("first"));
		assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> result.get().join());
		assertThat(this.closed).hasValue(1);
		assertThat(this.step.released).isOne();
	}

	@Test
	void whenNothingCanBeMadeThenTheSourceIsReleased() {
		IllegalStateException failure = new IllegalStateException("unusable");
		CompletableFuture<String> result = FirstStep.<String, String>of(this.iterator, (first) -> {
			throw failure;
		}, (made) -> this.closed.incrementAndGet()).toCompletableFuture();
		this.step.pending.complete(Optional.of("first"));
		assertThat(this.step.released).isOne();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(result::join).withCause(failure);
	}

	/**
	 * Answers when the test says so.
	 */
	private static final class Step implements AsyncStep<String> {

		private final CompletableFuture<Optional<String>> pending = new CompletableFuture<>();

		private int released;

		@Override
		public CompletionStage<Optional<String>> advance() {
			return this.pending;
		}

		@Override
		public void cancel() {
			this.pending.complete(Optional.empty());
		}

		@Override
		public CompletionStage<Void> release() {
			this.released++;
			return CompletableFuture.completedFuture(null);
		}

	}

}
