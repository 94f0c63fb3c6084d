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

import java.lang.ref.Reference;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LossWatchTests {

	private final AtomicInteger losses = new AtomicInteger();

	private final SpillExecutor executor = new SpillExecutor(Runnable::run, () -> false);

	@Test
	void whatIsLostBeforeItsEndIsPutRight() {
		lose(false);
		lose(true);
		Awaitility.await().until(() -> {
			System.gc();
			return this.losses.get() > 0;
		});
		assertThat(this.losses).hasValue(1);
	}

	private void lose(boolean ended) {
		Object watched = new Object();
		LossWatch watch = watch(watched);
		if (ended) {
			watch.end();
		}
		Reference.reachabilityFence(watched);
	}

	@Test
	void onlyTheFirstEndCounts() {
		Object watched = new Object();
		LossWatch watch = watch(watched);
		assertThat(watch.end()).isTrue();
		assertThat(watch.end()).isFalse();
		Reference.reachabilityFence(watched);
	}

	private LossWatch watch(Object watched) {
		return new LossWatch(watched, this.executor, this.losses::incrementAndGet);
	}

}
