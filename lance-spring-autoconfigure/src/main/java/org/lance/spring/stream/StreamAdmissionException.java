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
 * A background stream was not opened: all slots are taken, or the executor is shut down.
 * Nothing was started and nothing has to be closed but the source.
 *
 * @since 0.1.0
 */
public class StreamAdmissionException extends IllegalStateException {

	private final int maxStreams;

	StreamAdmissionException(String message, int maxStreams) {
		super(message);
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
