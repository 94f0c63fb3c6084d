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
 * Whether a directory failed or was full, and how long ago.
 * <p>
 * May be used from any thread.
 */
final class DirectoryHealth {

	private final InstantSource clock;

	private final Duration retry;

	private @Nullable Instant failedAt;

	private @Nullable Instant fullAt;

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
	 * Says that a file could not grow as far as it had to. When that file is deleted
	 * there is room again, but not for the next one that is as large. That a new file can
	 * be made does not show the contrary.
	 */
	synchronized void full() {
		this.fullAt = this.clock.instant();
	}

	/**
	 * Tells whether it failed or was full so recently that others are to be preferred.
	 */
	synchronized boolean isLeftAlone() {
		return isRecent(this.failedAt) || isRecent(this.fullAt);
	}

	private boolean isRecent(@Nullable Instant since) {
		if (since == null) {
			return false;
		}
		Duration age = Duration.between(since, this.clock.instant());
		// Clocks may be set back.
		return !age.isNegative() && age.compareTo(this.retry) < 0;
	}

	/**
	 * When it failed or was full, {@link Instant#MIN} if never.
	 */
	synchronized Instant troubledAt() {
		Instant failed = (this.failedAt != null) ? this.failedAt : Instant.MIN;
		Instant full = (this.fullAt != null) ? this.fullAt : Instant.MIN;
		return failed.isAfter(full) ? failed : full;
	}

}
