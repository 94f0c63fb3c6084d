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

	private long nanos;

	private boolean full;

	private SpareThreads threads(int helpers) {
		return new SpareThreads((helper) -> {
			if (this.full) {
				throw new RejectedExecutionException("full");
			}
			this.queue.add(helper);
		}, helpers, () -> this.nanos);
	}

	@Test
	void noMoreIsOfferedWhileNobodyTakesIt() {
		SpareThreads threads = threads(1);
		for (int i = 0; i < 100; i++) {
			assertThat(threads.offer(() -> this.done.add("early"))).isEqualTo(i < SpareThreads.MAX_OFFERS);
		}
		assertThat(this.queue).hasSize(1);
		this.queue.remove().run();
		assertThat(this.done).containsExactly("early", "early", "early", "early");
		assertThat(threads.offer(() -> this.done.add("late"))).isTrue();
		this.queue.remove().run();
		assertThat(this.done).endsWith("late").hasSize(5);
	}

	@Test
	void thereAreNoMoreHelpersThanProcessorsCanCarry() {
		SpareThreads threads = threads(2);
		for (int i = 0; i < 4; i++) {
			threads.offer(() -> {
				this.done.add("done");
				threads.offer(() -> this.done.add("more"));
			});
		}
		assertThat(this.queue).hasSize(2);
		this.queue.remove().run();
		assertThat(this.queue).hasSize(1);
		assertThat(this.done).hasSize(8);
		this.queue.remove().run();
		threads.offer(() -> this.done.add("new"));
		assertThat(this.queue).hasSize(1);
	}

	@Test
	void aHelperTakesEachSecondProcessor() {
		assertThat(SpareThreads.helpers(1)).isZero();
		assertThat(SpareThreads.helpers(2)).isOne();
		assertThat(SpareThreads.helpers(3)).isOne();
		assertThat(SpareThreads.helpers(4)).isEqualTo(2);
		assertThat(SpareThreads.helpers(64)).isEqualTo(4);
	}

	@Test
	void withoutHelpersNothingIsOffered() {
		SpareThreads threads = threads(0);
		assertThat(threads.offer(() -> this.done.add("never"))).isFalse();
		assertThat(this.queue).isEmpty();
	}

	@Test
	void othersGetTheirTurnAfterAWhile() {
		SpareThreads threads = threads(1);
		for (int i = 0; i < 3; i++) {
			threads.offer(() -> {
				this.done.add("done");
				this.nanos += Duration.ofMillis(2).toNanos();
			});
		}
		this.queue.remove().run();
		assertThat(this.done).hasSize(2);
		assertThat(this.queue).hasSize(1);
		this.queue.remove().run();
		assertThat(this.done).hasSize(3);
		assertThat(this.queue).isEmpty();
	}

	@Test
	void whenAHelperCanNotGoOnWithAllThatMayWaitThenAnotherOneIsAskedFor() {
		SpareThreads threads = threads(1);
		threads.offer(() -> {
			for (int i = 0; i < SpareThreads.MAX_OFFERS; i++) {
				threads.offer(() -> this.done.add("old"));
			}
			this.nanos += Duration.ofMillis(3).toNanos();
		});
		this.full = true;
		this.queue.remove().run();
		this.full = false;
		assertThat(threads.offer(() -> this.done.add("new"))).isTrue();
		this.queue.remove().run();
		assertThat(this.done).containsExactly("new");
	}

	@Test
	void aHelperThatOffersTheRestOfItsWorkWakesNobody() {
		SpareThreads threads = threads(4);
		threads.offer(() -> {
			threads.offer(() -> this.done.add("rest"));
			this.done.add("asked " + this.queue.size());
			threads.offer(() -> this.done.add("more"));
			this.done.add("asked " + this.queue.size());
		});
		this.queue.remove().run();
		assertThat(this.done).containsExactly("asked 0", "asked 1", "rest", "more");
	}

	@Test
	void aHelperThatHasDoneAllGoes() {
		SpareThreads threads = threads(1);
		for (int i = 0; i < 2; i++) {
			threads.offer(() -> this.nanos += Duration.ofMillis(3).toNanos());
			assertThat(this.queue).hasSize(1);
			this.queue.remove().run();
			assertThat(this.queue).isEmpty();
		}
	}

	@Test
	void aHelperThatCanNotGoOnLeavesTheRestToTheNextOne() {
		SpareThreads threads = threads(1);
		for (int i = 0; i < 2; i++) {
			threads.offer(() -> {
				this.done.add("done");
				this.nanos += Duration.ofMillis(3).toNanos();
			});
		}
		this.full = true;
		this.queue.remove().run();
		assertThat(this.done).hasSize(1);
		this.full = false;
		threads.offer(() -> this.done.add("new"));
		this.queue.remove().run();
		assertThat(this.done).containsExactly("done", "done");
		this.queue.remove().run();
		assertThat(this.done).containsExactly("done", "done", "new");
	}

	@Test
	void workThatFailsHasEndedToo() {
		SpareThreads threads = threads(1);
		for (int i = 0; i < 100; i++) {
			threads.offer(() -> {
				this.done.add("failed");
				throw new NoClassDefFoundError("unreadable");
			});
			assertThatCode(() -> this.queue.remove().run()).doesNotThrowAnyException();
		}
		assertThat(this.done).hasSize(100);
	}

	@Test
	void workNeverRunsOnTheThreadThatOffersIt() {
		SpareThreads threads = new SpareThreads(Runnable::run, 1, () -> this.nanos);
		for (int i = 0; i < 100; i++) {
			assertThat(threads.offer(() -> this.done.add("in the way"))).isFalse();
		}
		assertThat(this.done).isEmpty();
	}

	@Test
	void helpersThatAreLostAreForgottenWithWhatWasOfferedToThem() {
		SpareThreads threads = threads(1);
		for (int i = 0; i < 100; i++) {
			threads.offer(() -> this.done.add("lost"));
		}
		this.nanos += Duration.ofSeconds(2).toNanos();
		assertThat(threads.offer(() -> this.done.add("new"))).isTrue();
		assertThat(this.queue).hasSize(2);
		// The first one comes after all.
		this.queue.remove().run();
		assertThat(this.done).isEmpty();
		this.queue.remove().run();
		assertThat(this.done).containsExactly("new");
	}

	@Test
	void anExecutorMayFailHoweverItLikes() {
		SpareThreads threads = new SpareThreads((task) -> {
			this.queue.add(task);
			throw new NoClassDefFoundError("decorator");
		}, 1, () -> this.nanos);
		for (int i = 0; i < 100; i++) {
			assertThat(threads.offer(() -> this.done.add("late"))).isFalse();
		}
		this.queue.forEach(Runnable::run);
		assertThat(this.queue).hasSize(100);
		assertThat(this.done).isEmpty();
	}

	@Test
	void anExecutorThatTakesNothingIsAskedAgain() {
		List<Runnable> refused = new ArrayList<>();
		SpareThreads threads = new SpareThreads((task) -> {
			refused.add(task);
			throw new RejectedExecutionException("full");
		}, 1, () -> this.nanos);
		for (int i = 0; i < 100; i++) {
			threads.offer(() -> this.done.add("never"));
		}
		assertThat(refused).hasSize(100);
		assertThat(this.done).isEmpty();
	}

}
