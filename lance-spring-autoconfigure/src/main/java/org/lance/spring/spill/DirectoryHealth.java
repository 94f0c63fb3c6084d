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
import java.time.Instant;
import java.time.InstantSource;

import org.jspecify.annotations.Nullable;

/**
 * Whether a directory failed and how long ago.
 * <p>
 * May be used from any thread.
 */
final class DirectoryHealth {

	private final InstantSource clock;

	private final Duration retry;

	private @Nullable Instant failedAt;

	DirectoryHealth(InstantSource clock, Duration retry) {
		this.clock = clock;
		this.retry = retry;
	}

	/**
	 * Says that it failed.
	 * @return whether that is news
	 */
	synchronized boolean failed() {
		boolean news = this.failedAt == null;
		this.failedAt = this.clock.instant();
		return news;
	}

	/**
	 * Says that it works.
	 * @return whether that is news
	 */
	synchronized boolean works() {
		boolean news = this.failedAt != null;
		this.failedAt = null;
		return news;
	}

	/**
	 * Tells whether it failed so recently that others are to be preferred.
	 */
	synchronized boolean isLeftAlone() {
		Instant since = this.failedAt;
		if (since == null) {
			return false;
		}
		Duration age = Duration.between(since, this.clock.instant());
		// Clocks may be set back.
		return !age.isNegative() && age.compareTo(this.retry) < 0;
	}

}
