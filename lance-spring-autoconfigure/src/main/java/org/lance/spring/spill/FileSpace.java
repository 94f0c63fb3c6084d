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

import java.io.IOException;

import org.jspecify.annotations.Nullable;

/**
 * The disk space of one file, reserved before it is written. A deleted file takes space
 * until its last mapping is gone, so whoever maps it retains this too.
 * <p>
 * Starts with one reference, that of the file. May be used from any thread.
 */
final class FileSpace {

	private final ByteBudget budget;

	private final @Nullable SpillDirectory directory;

	private final FileErrors errors;

	private int references = 1;

	private long reserved;

	/**
	 * Creates the space of an empty file.
	 * @param budget what all files may take together
	 * @param directory the directory to watch, or {@code null} for none
	 */
	FileSpace(ByteBudget budget, @Nullable SpillDirectory directory, FileErrors errors) {
		this.budget = budget;
		this.directory = directory;
		this.errors = errors;
	}

	/**
	 * Reserves what is about to be written.
	 * @throws SpillQuotaExceededException if all files together would be too large
	 * @throws SpillDiskFullException if too little of the disk would stay free
	 */
	void reserve(long bytes) {
		if (!this.budget.tryReserve(bytes)) {
			throw this.errors.quotaExceeded(this.budget, reserved(), bytes);
		}
		try {
			// Outside the lock, as it may ask the disk and readers release on any thread.
			if (this.directory != null) {
				this.directory.take(bytes);
			}
		}
		catch (LowSpaceException ex) {
			this.budget.giveBack(bytes);
			if (reserved() > 0) {
				this.directory.full();
			}
			throw this.errors.writing(ex, reserved(), bytes, true);
		}
		catch (RuntimeException | Error ex) {
			this.budget.giveBack(bytes);
			throw ex;
		}
		synchronized (this) {
			this.reserved += bytes;
		}
	}

	private synchronized long reserved() {
		return this.reserved;
	}

	/**
	 * Says that writing failed, so that new files go elsewhere.
	 */
	void failed(IOException why) {
		if (this.directory != null) {
			this.directory.failed(why);
		}
	}

	synchronized void retain() {
		this.references++;
	}

	/**
	 * Gives a reference back, and the space with the last one.
	 */
	synchronized void release() {
		this.references--;
		if (this.references < 0) {
			throw new IllegalStateException("The space of a file was released more often than retained");
		}
		if (this.references == 0) {
			this.budget.giveBack(this.reserved);
		}
	}

}
