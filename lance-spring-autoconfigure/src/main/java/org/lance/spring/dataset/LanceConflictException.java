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

import org.jspecify.annotations.Nullable;

/**
 * A write lost against a concurrent one and committed nothing.
 *
 * @since 0.1.0
 */
public class LanceConflictException extends LanceException {

	private final boolean retryable;

	public LanceConflictException(String message, String uri, boolean retryable, @Nullable Throwable cause) {
		super(message, uri, cause);
		this.retryable = retryable;
	}

	/**
	 * Tells whether the same write can succeed on the new version of the dataset. If not,
	 * the concurrent write has changed what this one relied on.
	 * @return whether it can
	 */
	public boolean isRetryable() {
		return this.retryable;
	}

}
