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
 * How much of a disk must stay free; the larger of both applies.
 *
 * @param bytes the bytes, 0 or more
 * @param percent the part of the whole disk, 0 to 99
 */
record SpaceFloor(long bytes, int percent) {

	static final SpaceFloor NONE = new SpaceFloor(0, 0);

	/**
	 * Returns the bytes for a disk of that size.
	 */
	long of(long total) {
		return Math.max(this.bytes, total / 100 * this.percent);
	}

	boolean isNone() {
		return this.bytes == 0 && this.percent == 0;
	}

}
