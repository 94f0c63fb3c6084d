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

package org.lance.spring.sample.flights;

import java.util.Locale;

import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.Failures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Runs the job when the web server is up, and keeps what came of it.
 */
@Component
@ConditionalOnBooleanProperty(name = "sample.job.enabled", matchIfMissing = true)
class FlightsJobRunner {

	private static final Logger logger = LoggerFactory.getLogger(FlightsJobRunner.class);

	private final FlightsJob job;

	private volatile FlightsStatus status = FlightsStatus.RUNNING;

	FlightsJobRunner(FlightsJob job) {
		this.job = job;
	}

	/**
	 * Starts the job; its steps run on the engine's threads, so the start goes on.
	 */
	@EventListener(ApplicationReadyEvent.class)
	void start() {
		this.job.run().whenComplete(this::end);
	}

	FlightsStatus status() {
		return this.status;
	}

	private void end(@Nullable FlightsResult result, @Nullable Throwable failure) {
		if (result != null) {
			logger.info(String.format(Locale.ROOT,
					"Main job done: %,d rows in table '%s', version %d; %,d bytes spilled to disk; mean delay %.2f min; "
							+ "%d ms",
					result.rows(), result.table(), result.version(), result.spilledBytes(),
					result.summary().meanDelay(), result.millis()));
			this.status = FlightsStatus.done(result);
		}
		else {
			Throwable cause = Failures.unwrap(failure);
			logger.error("Main job failed: {}", cause.getMessage(), cause);
			this.status = FlightsStatus.failed(String.valueOf(cause));
		}
	}

}
