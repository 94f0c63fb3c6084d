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

package org.lance.spring.dataset;

import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.InvalidRecordBatchException;
import org.lance.spring.stream.SchemaMismatchException;

/**
 * Makes typed exceptions of what native code throws. lance-core has no exception classes
 * of its own, so the text decides; all such texts are here.
 */
final class NativeFailures {

	/**
	 * The place in Lance's own sources, which helps no caller.
	 */
	private static final Pattern LOCATION = Pattern.compile(",? *(location: )?/\\S*/?rust/\\S+\\.rs:\\d+(:\\d+)?");

	private NativeFailures() {
	}

	/**
	 * Translates the failure of a write.
	 * @param uri the dataset
	 * @param failure what native code threw
	 * @return the exception for the caller, with the failure as its cause
	 */
	static RuntimeException ofWrite(String uri, Throwable failure) {
		if (failure instanceof LanceException translated) {
			return translated;
		}
		if (failure instanceof LinkageError) {
			return LanceLibrary.unavailable(failure);
		}
		String text = text(failure);
		if (text.contains("Dataset already exists")) {
			return exists(uri, failure);
		}
		if (isNotFound(text)) {
			return notFound(uri, failure);
		}
		if (text.contains("Retryable commit conflict") || text.contains("Too many concurrent writers")) {
			return new LanceConflictException(
					"A concurrent write to dataset '%s' was faster. Try again: %s".formatted(uri, text), uri, true,
					failure);
		}
		if (text.contains("Incompatible transaction") || text.contains("Commit conflict")) {
			return new LanceConflictException(
					"A concurrent write has changed dataset '%s' so that this one no longer fits: %s".formatted(uri,
							text),
					uri, false, failure);
		}
		if (text.contains("Append with different schema")) {
			return new SchemaMismatchException("The schema differs from that of dataset '%s': %s".formatted(uri, text),
					failure);
		}
		if (text.contains("non-nullable but contains null") || text.contains("marked non-null in the schema")) {
			return new InvalidRecordBatchException("A null came for dataset '%s': %s".formatted(uri, text), failure);
		}
		return new LanceWriteException("Writing dataset '%s' failed: %s".formatted(uri, text), uri, failure);
	}

	/**
	 * Translates the failure of a read.
	 * @param uri the dataset
	 * @param failure what native code threw
	 * @return the exception for the caller, with the failure as its cause
	 */
	static LanceException ofRead(String uri, Throwable failure) {
		if (failure instanceof LanceException translated) {
			return translated;
		}
		if (failure instanceof LinkageError) {
			return LanceLibrary.unavailable(failure);
		}
		String text = text(failure);
		if (isNotFound(text)) {
			return notFound(uri, failure);
		}
		return new LanceReadException("Reading dataset '%s' failed: %s".formatted(uri, text), uri, failure);
	}

	static LanceDatasetExistsException exists(String uri, @Nullable Throwable failure) {
		return new LanceDatasetExistsException(
				"Dataset '%s' exists already. Use the mode APPEND or OVERWRITE".formatted(uri), uri, failure);
	}

	static LanceDatasetNotFoundException notFound(String uri, @Nullable Throwable failure) {
		return new LanceDatasetNotFoundException(
				"There is no dataset at '%s'. Write it first, with the mode CREATE or OVERWRITE".formatted(uri), uri,
				failure);
	}

	private static boolean isNotFound(String text) {
		return text.contains("Dataset at path") && text.contains("was not found");
	}

	private static String text(Throwable failure) {
		String message = failure.getMessage();
		return (message != null) ? LOCATION.matcher(message).replaceAll("").strip() : failure.toString();
	}

}
