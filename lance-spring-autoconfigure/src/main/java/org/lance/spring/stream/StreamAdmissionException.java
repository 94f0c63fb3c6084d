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

/**
 * The executor does not take a background stream: all slots are taken, it is shut down,
 * or it fails to take tasks. A stream that is refused when it is opened has started
 * nothing, and its source stays the caller's; one that is refused later has ended, and
 * its source is closed.
 *
 * @since 0.1.0
 */
public class StreamAdmissionException extends IllegalStateException {

	private final int maxStreams;

	StreamAdmissionException(String message, int maxStreams) {
		super(message);
		this.maxStreams = maxStreams;
	}

	StreamAdmissionException(String message, int maxStreams, Throwable cause) {
		super(message, cause);
		this.maxStreams = maxStreams;
	}

	/**
	 * Returns how many streams may be open at once.
	 * @return the number of slots
	 */
	public int getMaxStreams() {
		return this.maxStreams;
	}

}
