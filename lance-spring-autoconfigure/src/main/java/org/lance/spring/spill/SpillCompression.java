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
 * How spill files are compressed: as Arrow IPC bodies, buffer by buffer, so that any
 * Arrow client can read a finished file.
 *
 * @param codec the codec
 * @param level how hard it tries, from {@value #MIN_LEVEL} (fastest) to
 * {@value #MAX_LEVEL} (smallest); without meaning for {@link SpillCodec#NONE}. Each
 * writer of a high level needs much memory outside of Arrow's: hundreds of megabytes at
 * 22
 * @since 0.1.0
 */
public record SpillCompression(SpillCodec codec, int level) {

	/**
	 * The lowest level of ZSTD.
	 */
	public static final int MIN_LEVEL = -(1 << 17);

	/**
	 * The highest level of ZSTD.
	 */
	public static final int MAX_LEVEL = 22;

	/**
	 * The level unless said otherwise.
	 */
	public static final int DEFAULT_LEVEL = 1;

	/**
	 * No compression.
	 */
	public static final SpillCompression NONE = new SpillCompression(SpillCodec.NONE, DEFAULT_LEVEL);

	public SpillCompression {
		if (level < MIN_LEVEL || level > MAX_LEVEL) {
			throw new IllegalArgumentException(
					"A compression level is between %d and %d, but was %d".formatted(MIN_LEVEL, MAX_LEVEL, level));
		}
	}

	/**
	 * Compression by ZSTD.
	 * @param level the level
	 * @return the compression
	 */
	public static SpillCompression zstd(int level) {
		return new SpillCompression(SpillCodec.ZSTD, level);
	}

	/**
	 * Compression by ZSTD where that makes writing faster.
	 * @param level the level
	 * @return the compression
	 */
	public static SpillCompression adaptive(int level) {
		return new SpillCompression(SpillCodec.ADAPTIVE, level);
	}

}
