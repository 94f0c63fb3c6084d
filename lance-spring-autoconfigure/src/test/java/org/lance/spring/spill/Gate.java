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

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where threads of the engine wait until a test lets them go on.
 */
final class Gate {

	private final CountDownLatch arrived = new CountDownLatch(1);

	private final CountDownLatch opened = new CountDownLatch(1);

	/**
	 * Waits until the gate is open.
	 */
	void pass() {
		this.arrived.countDown();
		try {
			this.opened.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Waits until somebody is at the gate; more than 5 seconds are a hang.
	 */
	void awaitArrival() throws InterruptedException {
		assertThat(this.arrived.await(5, TimeUnit.SECONDS)).as("somebody is at the gate").isTrue();
	}

	void open() {
		this.opened.countDown();
	}

}
