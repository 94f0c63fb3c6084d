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

package org.lance.spring.stream;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import org.jspecify.annotations.Nullable;

/**
 * Finds the failure inside the wrappers that completion stages put around it, so that a
 * caller is given the very exception of the source.
 *
 * @since 0.1.0
 */
public final class Failures {

	private Failures() {
	}

	/**
	 * Returns the failure without the wrappers of {@link java.util.concurrent}.
	 * @param failure the failure of a stage, or {@code null}
	 * @return the original, or {@code null} if there is none
	 */
	@SuppressWarnings("NullAway")
	public static Throwable unwrap(@Nullable Throwable failure) {
		Throwable current = failure;
		while ((current instanceof CompletionException || current instanceof ExecutionException)
				&& current.getCause() != null) {
			current = current.getCause();
		}
		return current;
	}

}
