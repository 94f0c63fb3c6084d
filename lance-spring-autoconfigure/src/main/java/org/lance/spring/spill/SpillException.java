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
 * A spill could not be written or read. The subclasses tell why; all messages name the
 * spill.
 *
 * @since 0.1.0
 */
public abstract sealed class SpillException extends RuntimeException permits SpillAbandonedException,
		SpillClosedException, SpillCorruptedException, SpillDiskFullException, SpillGoneException, SpillIoException,
		SpillQuotaExceededException, SpillRejectedException, SpillSourceFailedException {

	private final String spillName;

	private final String detail;

	SpillException(String spillName, String message, @Nullable Throwable cause) {
		super("Spill '%s': %s".formatted(spillName, message), cause);
		this.spillName = spillName;
		this.detail = message;
	}

	/**
	 * The message without the name of the spill.
	 */
	final String detail() {
		return this.detail;
	}

	/**
	 * Another exception of this type with the same cause. Each caller gets one of its
	 * own: an exception that many threads share collects their suppressed ones.
	 */
	abstract SpillException again(String message);

	/**
	 * Returns the name of the spill.
	 * @return the name
	 */
	public String getSpillName() {
		return this.spillName;
	}

}
