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
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * Says what went wrong with the file of a spill, and what to change.
 *
 * @param spill the name of the spill
 * @param file its file
 */
record FileErrors(String spill, Path file) {

	private static final String PROPERTY = "lance.spill.directories";

	private static final String LIMIT = "lance.spill.disk-limit";

	/**
	 * What systems say when a disk, a quota or the largest file size is reached; Java has
	 * no other sign of it.
	 */
	private static final List<String> FULL = List.of("no space left on device", "file too large", "quota exceeded",
			"not enough space on the disk");

	private static final Map<Class<?>, String> REASONS = Map.of(AccessDeniedException.class, "access denied",
			FileAlreadyExistsException.class, "a file is in the way", NotDirectoryException.class, "not a directory",
			NoSuchFileException.class, "it does not exist");

	/**
	 * A failure to create a file in any of the directories.
	 * @param failures what failed in each
	 */
	static SpillException creating(String spill, Map<SpillDirectory, IOException> failures) {
		IOException first = failures.values().iterator().next();
		if (failures.size() == 1) {
			return creating(spill, "the directory " + failures.keySet().iterator().next(), first);
		}
		failures.values().stream().filter((failure) -> failure != first).forEach(first::addSuppressed);
		String reasons = failures.entrySet()
			.stream()
			.map((failure) -> "%s (%s)".formatted(failure.getKey(), reason(failure.getValue())))
			.collect(Collectors.joining(", "));
		if (failures.values().stream().allMatch(FileErrors::isFull)) {
			return new SpillDiskFullException(spill,
					"no file can be created, no disk has room for it: %s. Free space there, or add a directory on another disk to %s"
						.formatted(reasons, PROPERTY),
					first);
		}
		return new SpillIoException(spill,
				"no file can be created in any directory: %s. Set %s to directories that this process may create and write"
					.formatted(reasons, PROPERTY),
				first);
	}

	/**
	 * A failure to create a file or its directory.
	 */
	static SpillException creating(String spill, IOException cause) {
		return creating(spill, (cause instanceof FileSystemException exception) ? String.valueOf(exception.getFile())
				: "the spill directory", cause);
	}

	private static SpillException creating(String spill, String where, IOException cause) {
		if (isFull(cause)) {
			return new SpillDiskFullException(spill,
					"no file can be created, the disk of %s has no room for it (%s). Free space there, or set %s to a directory on another disk"
						.formatted(where, reason(cause), PROPERTY),
					cause);
		}
		return new SpillIoException(spill,
				"no file can be created in %s (%s). Set %s to a directory that this process may create and write"
					.formatted(where, reason(cause), PROPERTY),
				cause);
	}

	/**
	 * A failure to write.
	 * @param written the bytes that the file has
	 * @param wanted the bytes that were to follow
	 * @param noSpace whether the disk says that they don't fit
	 */
	SpillException writing(IOException cause, long written, long wanted, boolean noSpace) {
		if (cause instanceof NoSuchFileException) {
			return gone(cause);
		}
		if (noSpace || isFull(cause)) {
			return new SpillDiskFullException(this.spill,
					"the disk has no room: %s has %d bytes, and %d more don't fit (%s). Free space there, or set %s to a directory on a larger disk"
						.formatted(this.file, written, wanted, reason(cause), PROPERTY),
					cause);
		}
		return new SpillIoException(this.spill,
				"%s has %d bytes, and %d more can't be written (%s). If the disk is bad, set %s to a directory on another one"
					.formatted(this.file, written, wanted, reason(cause), PROPERTY),
				cause);
	}

	/**
	 * All files together are as large as they may be.
	 * @param written the bytes that the file has
	 * @param wanted the bytes that were to follow
	 */
	SpillQuotaExceededException quotaExceeded(ByteBudget budget, long written, long wanted) {
		return new SpillQuotaExceededException(this.spill,
				"%s has %d bytes, and %d more don't fit: all spill files together use %d bytes of %d. Raise %s, or close spills that are no longer needed"
					.formatted(this.file, written, wanted, budget.used(), budget.limit(), LIMIT),
				null);
	}

	/**
	 * A failure to read.
	 */
	SpillException reading(IOException cause, int batch) {
		if (cause instanceof NoSuchFileException) {
			return gone(cause);
		}
		return new SpillIoException(this.spill,
				"batch %d can't be read from %s (%s). If the disk is bad, set %s to a directory on another one"
					.formatted(batch, this.file, reason(cause), PROPERTY),
				cause);
	}

	/**
	 * There is not enough memory to read a batch into.
	 */
	SpillException memory(RuntimeException cause, int batch, long bytes) {
		return new SpillIoException(this.spill,
				"batch %d needs %d bytes of memory to be read from %s, which the allocator refuses (%s). Raise lance.memory.limit"
					.formatted(batch, bytes, this.file, cause.getMessage()),
				cause);
	}

	/**
	 * There is not enough memory to compact, compress or encrypt a batch into.
	 */
	SpillException noMemoryToWrite(RuntimeException cause, int batch) {
		return new SpillIoException(this.spill,
				"batch %d can't be written to %s, as the allocator refuses the memory to compact, compress or encrypt it (%s). Raise lance.memory.limit"
					.formatted(batch, this.file, cause.getMessage()),
				cause);
	}

	/**
	 * The file or its directory was removed.
	 */
	SpillGoneException gone(IOException cause) {
		return new SpillGoneException(this.spill,
				"its file %s was removed. Keep clean-up jobs away from the directory, or set %s to another one"
					.formatted(this.file, PROPERTY),
				cause);
	}

	/**
	 * The file is not what was written.
	 */
	SpillCorruptedException corrupted(int batch, String what, @Nullable Throwable cause) {
		return new SpillCorruptedException(this.spill,
				"batch %d (the first one is 0) in %s is damaged: %s. Something else writes to this file or its disk is bad; if need be, set %s to another directory"
					.formatted(batch, this.file, what, PROPERTY),
				cause);
	}

	private static boolean isFull(IOException cause) {
		if (cause instanceof LowSpaceException) {
			return true;
		}
		String reason = reason(cause).toLowerCase(Locale.ROOT);
		return FULL.stream().anyMatch(reason::contains);
	}

	private static String reason(IOException cause) {
		String reason = (cause instanceof FileSystemException exception) ? exception.getReason() : cause.getMessage();
		return (reason != null) ? reason : REASONS.getOrDefault(cause.getClass(), cause.getClass().getSimpleName());
	}

}
