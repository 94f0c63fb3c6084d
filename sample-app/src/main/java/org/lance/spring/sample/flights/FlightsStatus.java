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

import org.jspecify.annotations.Nullable;

/**
 * How the job at start stands.
 *
 * @param state the state
 * @param result what it did, once it is done
 * @param error what went wrong, if it failed
 */
record FlightsStatus(State state, @Nullable FlightsResult result, @Nullable String error) {

	static final FlightsStatus OFF = new FlightsStatus(State.OFF, null, null);

	static final FlightsStatus RUNNING = new FlightsStatus(State.RUNNING, null, null);

	static FlightsStatus done(FlightsResult result) {
		return new FlightsStatus(State.DONE, result, null);
	}

	static FlightsStatus failed(String error) {
		return new FlightsStatus(State.FAILED, null, error);
	}

	/**
	 * The states of the job.
	 */
	enum State {

		/**
		 * Switched off.
		 */
		OFF,

		/**
		 * Not done yet.
		 */
		RUNNING,

		/**
		 * Done.
		 */
		DONE,

		/**
		 * Failed.
		 */
		FAILED

	}

}
