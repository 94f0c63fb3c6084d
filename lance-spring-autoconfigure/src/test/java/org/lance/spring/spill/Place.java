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

/**
 * Where the batches of a test's spill live.
 */
enum Place {

	/**
	 * All in memory.
	 */
	MEMORY(1L << 40),

	/**
	 * The first ones in memory, then all on disk.
	 */
	SWITCHING(1024),

	/**
	 * All on disk.
	 */
	DISK(0);

	final long limit;

	Place(long limit) {
		this.limit = limit;
	}

	SpillOptions options() {
		return SpillOptions.DEFAULTS.withMemoryLimit(this.limit);
	}

}
