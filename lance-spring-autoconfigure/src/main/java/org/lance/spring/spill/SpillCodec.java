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
 * How batches are compressed that are written to disk.
 *
 * @since 0.1.0
 */
public enum SpillCodec {

	/**
	 * Not at all.
	 */
	NONE,

	/**
	 * By ZSTD.
	 */
	ZSTD,

	/**
	 * By ZSTD where that makes writing faster, as measured on the way for each file: on
	 * slow disks, and not where data don't get smaller.
	 */
	ADAPTIVE

}
