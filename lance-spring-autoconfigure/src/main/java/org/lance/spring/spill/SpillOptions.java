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
 * What one spill does differently from the defaults of its manager. Immutable; start from
 * {@link #DEFAULTS}.
 *
 * @since 0.1.0
 */
public final class SpillOptions {

	/**
	 * No difference from the manager's defaults.
	 */
	public static final SpillOptions DEFAULTS = new SpillOptions(new Values());

	private final Values values;

	private SpillOptions(Values values) {
		this.values = values;
	}

	/**
	 * Returns the name for messages and statistics; a number is added to it.
	 * @return the name, or {@code null} for {@code spill}
	 */
	public @Nullable String name() {
		return this.values.name;
	}

	/**
	 * Returns these options with another name.
	 * @param name the name, made of letters, digits, {@code -} and {@code _}
	 * @return the options
	 */
	public SpillOptions withName(String name) {
		if (!name.matches("[A-Za-z0-9_-]{1,64}")) {
			throw new IllegalArgumentException(
					"A name of a spill is made of 1 to 64 letters, digits, '-' and '_', but was '%s'".formatted(name));
		}
		Values changed = new Values(this.values);
		changed.name = name;
		return new SpillOptions(changed);
	}

	/**
	 * Returns the bytes that the spill may hold in memory.
	 * @return the limit; 0 writes everything to disk, a negative number stands for the
	 * limit of the manager
	 */
	public long memoryLimit() {
		return this.values.memoryLimit;
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
		Values changed = new Values(this.values);
		changed.memoryLimit = bytes;
		return new SpillOptions(changed);
	}

	/**
	 * Returns when batches read from disk are verified.
	 * @return when, or {@code null} for the manager's choice
	 */
	public @Nullable Verification verification() {
		return this.values.verification;
	}

	/**
	 * Returns these options with another verification.
	 * @param verification when to verify
	 * @return the options
	 */
	public SpillOptions withVerification(Verification verification) {
		Values changed = new Values(this.values);
		changed.verification = verification;
		return new SpillOptions(changed);
	}

	/**
	 * Returns how the file is compressed.
	 * @return how, or {@code null} for the manager's choice
	 */
	public @Nullable SpillCompression compression() {
		return this.values.compression;
	}

	/**
	 * Returns these options with another compression.
	 * @param compression the compression
	 * @return the options
	 */
	public SpillOptions withCompression(SpillCompression compression) {
		Values changed = new Values(this.values);
		changed.compression = compression;
		return new SpillOptions(changed);
	}

	/**
	 * Returns what the spill does when its batches do not fit into memory any more.
	 * @return what, or {@code null} for the manager's choice
	 */
	public @Nullable SpillMode mode() {
		return this.values.mode;
	}

	/**
	 * Returns these options with another mode.
	 * @param mode what the spill does when its batches do not fit into memory any more
	 * @return the options
	 */
	public SpillOptions withMode(SpillMode mode) {
		Values changed = new Values(this.values);
		changed.mode = mode;
		return new SpillOptions(changed);
	}

	/**
	 * Returns whether the file is encrypted.
	 * @return whether it is, or {@code null} for the manager's choice
	 */
	public @Nullable Boolean encryption() {
		return this.values.encryption;
	}

	/**
	 * Returns these options with another encryption.
	 * @param encryption whether the file is encrypted
	 * @return the options
	 */
	public SpillOptions withEncryption(boolean encryption) {
		Values changed = new Values(this.values);
		changed.encryption = encryption;
		return new SpillOptions(changed);
	}

	@Override
	public String toString() {
		return "options of spill '%s', memory limit %d, verification %s, %s, encryption %s, mode %s".formatted(name(),
				memoryLimit(), verification(), compression(), encryption(), mode());
	}

	/**
	 * What was chosen; not changed once it belongs to options.
	 */
	private static final class Values {

		private @Nullable String name;

		private long memoryLimit = -1;

		private @Nullable Verification verification;

		private @Nullable SpillCompression compression;

		private @Nullable SpillMode mode;

		private @Nullable Boolean encryption;

		Values() {
		}

		Values(Values other) {
			this.name = other.name;
			this.memoryLimit = other.memoryLimit;
			this.verification = other.verification;
			this.compression = other.compression;
			this.mode = other.mode;
			this.encryption = other.encryption;
		}

	}

}
