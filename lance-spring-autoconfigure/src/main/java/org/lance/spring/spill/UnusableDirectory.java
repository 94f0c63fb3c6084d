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
 * What a spill does that has to go to disk when no file can be made, because no directory
 * is usable.
 *
 * @since 0.1.0
 */
public enum UnusableDirectory {

	/**
	 * It fails, with the reason.
	 */
	FAIL,

	/**
	 * It stays in memory, beyond its own limit but within that of all spills together,
	 * and tries again with its next batch. Logged as a warning once.
	 */
	MEMORY

}
