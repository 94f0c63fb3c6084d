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
 * Decides which bodies of a file are compressed.
 */
interface CompressionChoice {

	/**
	 * Tells whether the next body is compressed.
	 * @param length its bytes
	 */
	boolean compresses(long length);

	/**
	 * Says what compressing a body took.
	 */
	default void compressed(long length, long compressedLength, long nanos) {
	}

	/**
	 * Says what writing bytes took, as they were stored.
	 */
	default void written(long length, long nanos) {
	}

	static CompressionChoice of(SpillCodec codec) {
		return switch (codec) {
			case NONE -> (length) -> false;
			case ZSTD -> (length) -> true;
			case ADAPTIVE -> new AdaptiveChoice();
		};
	}

}
