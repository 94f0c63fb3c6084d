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

package org.lance.spring.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.lance.spring.autoconfigure.LanceDrain.Drainable;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LanceDrain}.
 */
@ExtendWith(OutputCaptureExtension.class)
class LanceDrainTests {

	private final AtomicInteger resumed = new AtomicInteger();

	private final CompletableFuture<Void> stopped = new CompletableFuture<>();

	@Test
	void itsPhaseIsBelowTheWebServersAndAboveTheExecutors() {
		assertThat(drain(Duration.ZERO).getPhase()).isLessThan(Integer.MAX_VALUE - 2048)
			.isGreaterThan(new ThreadPoolTaskExecutor().getPhase());
	}

	@Test
	void whenAllEndThenTheCallbackRuns() {
		CompletableFuture<Void> spills = new CompletableFuture<>();
		LanceDrain drain = drain(Duration.ofMinutes(1), (grace) -> spills,
				(grace) -> CompletableFuture.completedFuture(null));
		drain.start();
		drain.stop(() -> this.stopped.complete(null));
		assertThat(drain.isRunning()).isFalse();
		assertThat(this.stopped).isNotDone();
		spills.complete(null);
		assertThat(this.stopped).isCompleted();
	}

	@Test
	void whenTheGraceTimeIsOverThenTheRestIsFailedInOrder(CapturedOutput output) {
		List<String> failed = Collections.synchronizedList(new ArrayList<>());
		CompletableFuture<Void> all = new CompletableFuture<>();
		LanceDrain drain = drain(Duration.ofMillis(10), (grace) -> {
			if (grace.isZero()) {
				failed.add("readers");
			}
			return all;
		}, (grace) -> {
			if (grace.isZero()) {
				failed.add("sources");
				all.complete(null);
			}
			return all;
		});
		drain.stop(() -> this.stopped.complete(null));
		assertThat(this.stopped).succeedsWithin(10, TimeUnit.SECONDS);
		assertThat(failed).containsExactly("readers", "sources");
		assertThat(output).contains("what is still open is failed: things, things").doesNotContain("goes on although");
	}

	@Test
	void whenAllEndInTimeThenNothingIsFailed(CapturedOutput output) {
		AtomicInteger calls = new AtomicInteger();
		LanceDrain drain = drain(Duration.ofMinutes(1), (grace) -> {
			calls.incrementAndGet();
			assertThat(grace).isGreaterThan(Duration.ofMinutes(1));
			return CompletableFuture.completedFuture(null);
		});
		drain.stop(() -> this.stopped.complete(null));
		assertThat(this.stopped).isCompleted();
		assertThat(calls).hasValue(1);
		assertThat(output).doesNotContain("shut down");
	}

	@Test
	void whenOneThrowsThenTheOthersAreStillDrainedAndTheCallbackRuns(CapturedOutput output) {
		AtomicInteger drained = new AtomicInteger();
		LanceDrain drain = drain(Duration.ZERO, (grace) -> {
			throw new IllegalStateException("Broken");
		}, (grace) -> {
			drained.incrementAndGet();
			return CompletableFuture.completedFuture(null);
		});
		drain.stop(() -> this.stopped.complete(null));
		assertThat(this.stopped).isCompleted();
		assertThat(drained).hasPositiveValue();
		assertThat(output).contains("The shutdown goes on although not everything came to its end: things")
			.contains("Broken");
	}

	@Test
	void whenOneNeverEndsThenTheCallbackRunsShortlyAfterTheGraceTime(CapturedOutput output) {
		LanceDrain drain = drain(Duration.ZERO, (grace) -> new CompletableFuture<>());
		drain.stop(() -> this.stopped.complete(null));
		assertThat(this.stopped).succeedsWithin(10, TimeUnit.SECONDS);
		assertThat(output).contains("The shutdown goes on although not everything came to its end: things");
	}

	@Test
	void whenStartedTheFirstTimeThenNothingIsResumed() {
		LanceDrain drain = drain(Duration.ZERO);
		drain.start();
		assertThat(drain.isRunning()).isTrue();
		assertThat(this.resumed).hasValue(0);
	}

	@Test
	void whenStartedAgainThenAllAreResumed() {
		LanceDrain drain = drain(Duration.ZERO, (grace) -> CompletableFuture.completedFuture(null));
		drain.start();
		drain.stop();
		drain.start();
		assertThat(drain.isRunning()).isTrue();
		assertThat(this.resumed).hasValue(1);
	}

	private LanceDrain drain(Duration grace, Drain... drains) {
		List<Drainable> all = Arrays.stream(drains)
			.map((drain) -> new Drainable("things", drain::start, this.resumed::incrementAndGet))
			.toList();
		return new LanceDrain(all, grace);
	}

	/**
	 * What a thing does.
	 */
	private interface Drain {

		CompletionStage<?> start(Duration grace);

	}

}
