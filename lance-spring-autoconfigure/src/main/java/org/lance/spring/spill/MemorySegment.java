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

import org.lance.spring.stream.RecordBatch;

/**
 * A run of batches that a spill holds in memory.
 */
interface MemorySegment {

	/**
	 * Returns the index of its first batch.
	 */
	int first();

	/**
	 * Returns another handle on a batch, or a new one.
	 * @param index the index within the spill
	 * @return the handle, owned by the caller; valid also after {@link #close()}
	 */
	RecordBatch share(int index);

	/**
	 * Lets go of the batches.
	 */
	void close();

}
