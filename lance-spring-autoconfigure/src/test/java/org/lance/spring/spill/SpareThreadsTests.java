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

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

/**
 * Tests for {@link SpareThreads}.
 */
class SpareThreadsTests {

	private final Deque<Runnable> queue = new ArrayDeque<>();

	private final List<String> done = new ArrayList<>();

	@Test
	void noMoreIsOfferedWhileNobodyTakesIt() {
		SpareThreads threads = new SpareThreads(this.queue::add);
		for (int i = 0; i < 100; i++) {
			threads.offer(() -> this.done.add("early"));
		}
		assertThat(this.queue).hasSize(SpareThreads.MAX_OFFERS);
		this.queue.remove().run();
		threads.offer(() -> this.done.add("late"));
		threads.offer(() -> this.done.add("too much"));
		assertThat(this.queue).hasSize(SpareThreads.MAX_OFFERS);
		this.queue.forEach(Runnable::run);
		assertThat(this.done).containsExactly("early", "early", "early", "early", "late");
	}

	@Test
	void workThatFailsHasEndedToo() {
		SpareThreads threads = new SpareThreads(this.queue::add);
		for (int i = 0; i < 100; i++) {
			threads.offer(() -> {
				this.done.add("failed");
				throw new IllegalStateException("unreadable");
			});
			assertThatCode(() -> this.queue.remove().run()).doesNotThrowAnyException();
		}
		assertThat(this.done).hasSize(100);
	}

	@Test
	void workNeverRunsOnTheThreadThatOffersIt() {
		SpareThreads threads = new SpareThreads(Runnable::run);
		for (int i = 0; i < 100; i++) {
			assertThat(threads.offer(() -> this.done.add("in the way"))).isTrue();
		}
		assertThat(this.done).isEmpty();
	}

	@Test
	void offersThatAreLostAreForgotten() {
		long[] nanos = new long[1];
		int[] taken = new int[1];
		SpareThreads threads = new SpareThreads((lost) -> taken[0]++, () -> nanos[0]);
		for (int i = 0; i < 100; i++) {
			threads.offer(() -> this.done.add("lost"));
		}
		assertThat(taken[0]).isEqualTo(SpareThreads.MAX_OFFERS);
		nanos[0] += Duration.ofSeconds(2).toNanos();
		assertThat(threads.offer(() -> this.done.add("lost"))).isTrue();
	}

	@Test
	void anExecutorMayFailHoweverItLikes() {
		SpareThreads threads = new SpareThreads((task) -> {
			this.queue.add(task);
			throw new NoClassDefFoundError("decorator");
		});
		for (int i = 0; i < 100; i++) {
			assertThat(threads.offer(() -> this.done.add("late"))).isFalse();
		}
		this.queue.forEach(Runnable::run);
		assertThat(this.queue).hasSize(100);
	}

	@Test
	void anExecutorThatTakesNothingIsAskedAgain() {
		List<Runnable> refused = new ArrayList<>();
		SpareThreads threads = new SpareThreads((task) -> {
			refused.add(task);
			throw new RejectedExecutionException("full");
		});
		for (int i = 0; i < 100; i++) {
			threads.offer(() -> this.done.add("never"));
		}
		assertThat(refused).hasSize(100);
		assertThat(this.done).isEmpty();
	}

}
