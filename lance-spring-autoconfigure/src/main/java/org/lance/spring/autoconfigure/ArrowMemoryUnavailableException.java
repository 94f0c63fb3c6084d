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

package org.lance.spring.autoconfigure;

import org.jspecify.annotations.Nullable;

/**
 * Arrow can't allocate memory in this JVM, whatever the application does.
 */
class ArrowMemoryUnavailableException extends RuntimeException {

	private final Reason reason;

	ArrowMemoryUnavailableException(Reason reason, String message, @Nullable Throwable cause) {
		super(message, cause);
		this.reason = reason;
	}

	Reason getReason() {
		return this.reason;
	}

	/**
	 * What is wrong.
	 */
	enum Reason {

		/**
		 * The package {@code java.nio} is not open to Arrow.
		 */
		PACKAGE_NOT_OPEN,

		/**
		 * No module with an allocation manager is on the class path.
		 */
		NO_ALLOCATION_MANAGER,

		/**
		 * Arrow's own start failed; the cause tells how.
		 */
		FAILED_START

	}

}
