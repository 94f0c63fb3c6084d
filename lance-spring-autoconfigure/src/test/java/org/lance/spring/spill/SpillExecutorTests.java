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
import java.util.concurrent.Executor;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SpillExecutor}.
 */
class SpillExecutorTests {

	private final Deque<Runnable> queue = new ArrayDeque<>();

	private final Executor threads = this.queue::add;

	private final List<String> done = new ArrayList<>();

	private boolean shutdown;

	private long nanos;

	private final SpillExecutor executor = new SpillExecutor(this.threads, () -> this.shutdown, () -> this.nanos);

	private void goOn(SpillExecutor executor, String name) {
		executor.goOn(() -> this.done.add(name), () -> this.done.add("rejected " + name));
	}

	private void onExecutor(Runnable task) {
		this.executor.execute(task, () -> this.done.add("rejected"));
		this.queue.remove().run();
	}

	@Test
	void aTaskGoesThroughTheQueueIfItComesFromElsewhere() {
		goOn(this.executor, "first");
		assertThat(this.done).isEmpty();
		this.queue.remove().run();
		assertThat(this.done).containsExactly("first");
		goOn(this.executor, "second");
		assertThat(this.done).containsExactly("first");
	}

	@Test
	void aTaskThatGoesOnRunsAtOnceAlsoForAnotherSpillOfTheSameExecutor() {
		onExecutor(() -> {
			goOn(this.executor, "same");
			goOn(new SpillExecutor(this.threads, () -> this.shutdown), "other");
			assertThat(this.done).containsExactly("same", "other");
		});
		assertThat(this.queue).isEmpty();
	}

	@Test
	void aTaskOfAnotherExecutorRunsThere() {
		Deque<Runnable> otherQueue = new ArrayDeque<>();
		SpillExecutor other = new SpillExecutor(otherQueue::add, () -> false);
		onExecutor(() -> goOn(other, "other"));
		assertThat(this.done).isEmpty();
		assertThat(otherQueue).hasSize(1);
	}

	@Test
	void aCallerThatLoopsKeepsItsThreadForAWhile() {
		onExecutor(() -> {
			for (int i = 0; i < 1000; i++) {
				goOn(this.executor, "task");
			}
		});
		assertThat(this.done).hasSize(1000);
		assertThat(this.queue).isEmpty();
	}

	@Test
	void aCallerThatCallsItselfDoesNotGrowTheStack() {
		onExecutor(() -> goOn(100));
		assertThat(this.done).hasSize(16);
		assertThat(this.queue).hasSize(1);
		this.queue.remove().run();
		assertThat(this.done).hasSizeBetween(17, 33);
	}

	private void goOn(int times) {
		if (times > 0) {
			this.executor.goOn(() -> {
				this.done.add("task");
				goOn(times - 1);
			}, () -> this.done.add("rejected"));
		}
	}

	@Test
	void othersGetTheirTurnAfterATaskThatTookLong() {
		onExecutor(() -> {
			this.nanos += Duration.ofMillis(19).toNanos();
			goOn(this.executor, "first");
			this.nanos += Duration.ofMillis(1).toNanos();
			goOn(this.executor, "second");
		});
		assertThat(this.done).containsExactly("first");
		assertThat(this.queue).hasSize(1);
	}

	@Test
	void nothingGoesOnAfterAShutdown() {
		onExecutor(() -> {
			this.shutdown = true;
			goOn(this.executor, "task");
			this.executor.settle();
		});
		assertThat(this.done).containsExactly("rejected task");
	}

	@Test
	void aThreadOfTheExecutorIsOneOnlyWhileItRunsATask() {
		onExecutor(() -> onExecutor(() -> goOn(this.executor, "inner")));
		goOn(this.executor, "outside");
		assertThat(this.done).containsExactly("inner");
	}

}
