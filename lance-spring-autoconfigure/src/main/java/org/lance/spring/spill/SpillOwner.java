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

import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * What a spill tells the manager that made it, and asks it. Called outside of locks.
 */
interface SpillOwner {

	/**
	 * The spill has begun or ended to be written, read or given back; it begins busy.
	 */
	void busyChanged(boolean busy);

	/**
	 * The spill holds nothing any more.
	 */
	void gone(SpillCore spill);

	/**
	 * The shared budget is short: asks another spill to move to disk.
	 * @param spill who needs memory
	 * @param wanted the bytes that it would hold with what it was given; only a spill
	 * that holds more is asked
	 * @return the stage that ends when the other one has moved or could not, or
	 * {@code null} if no other is to move
	 */
	@Nullable CompletionStage<?> makeRoom(SpillCore spill, long wanted);

}
