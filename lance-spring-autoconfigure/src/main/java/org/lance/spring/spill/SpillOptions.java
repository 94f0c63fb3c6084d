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

import org.jspecify.annotations.Nullable;

/**
 * What one spill does differently from the defaults of its manager.
 *
 * @param name a name for messages and statistics, made of letters, digits, {@code -} and
 * {@code _}; a number is added to it. {@code null} for {@code spill}
 * @param memoryLimit the bytes it may hold in memory; 0 writes everything to disk, a
 * negative number stands for the limit of the manager
 * @param verification when batches read from disk are verified, or {@code null} for the
 * manager's choice
 * @since 0.1.0
 */
public record SpillOptions(@Nullable String name, long memoryLimit, @Nullable Verification verification) {

	/**
	 * No difference from the manager's defaults.
	 */
	public static final SpillOptions DEFAULTS = new SpillOptions(null, -1, null);

	public SpillOptions {
		if (name != null && !name.matches("[A-Za-z0-9_-]{1,64}")) {
			throw new IllegalArgumentException(
					"A name of a spill is made of 1 to 64 letters, digits, '-' and '_', but was '%s'".formatted(name));
		}
	}

	/**
	 * Returns these options with another name.
	 * @param name the name
	 * @return the options
	 */
	public SpillOptions withName(String name) {
		return new SpillOptions(name, this.memoryLimit, this.verification);
	}

	/**
	 * Returns these options with another memory limit.
	 * @param bytes the limit in bytes, 0 or more
	 * @return the options
	 */
	public SpillOptions withMemoryLimit(long bytes) {
		if (bytes < 0) {
			throw new IllegalArgumentException("The memory limit must be 0 or more, but was " + bytes);
		}
		return new SpillOptions(this.name, bytes, this.verification);
	}

	/**
	 * Returns these options with another verification.
	 * @param verification when to verify
	 * @return the options
	 */
	public SpillOptions withVerification(Verification verification) {
		return new SpillOptions(this.name, this.memoryLimit, verification);
	}

}
