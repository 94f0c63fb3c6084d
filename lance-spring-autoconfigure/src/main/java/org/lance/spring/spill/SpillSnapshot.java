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

/**
 * What a spill holds at one moment.
 *
 * @param name the name of the spill
 * @param state the state
 * @param batches the batches written
 * @param rows the rows written
 * @param memoryBytes the bytes held in memory
 * @param diskBytes the bytes held on disk
 * @param readers the readers open
 * @param age the time since the spill was created
 * @since 0.1.0
 */
public record SpillSnapshot(String name, State state, long batches, long rows, long memoryBytes, long diskBytes,
		int readers, Duration age) {

	/**
	 * The states of a spill.
	 *
	 * @since 0.1.0
	 */
	public enum State {

		/**
		 * Being written, all in memory.
		 */
		IN_MEMORY,

		/**
		 * Being written, on its way to disk: readers still read from memory.
		 */
		SWITCHING,

		/**
		 * Being written, on disk.
		 */
		ON_DISK,

		/**
		 * Complete.
		 */
		FINISHED,

		/**
		 * Failed for good.
		 */
		FAILED,

		/**
		 * Closed.
		 */
		CLOSED

	}

}
