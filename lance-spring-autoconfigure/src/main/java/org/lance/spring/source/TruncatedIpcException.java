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

package org.lance.spring.source;

import org.lance.spring.stream.ArrowDataException;

/**
 * Arrow IPC data that end before their end marker: the rest was lost on the way, or their
 * writer failed or was never closed.
 *
 * @since 0.1.0
 */
public class TruncatedIpcException extends ArrowDataException {

	private final long offset;

	/**
	 * Creates the exception.
	 * @param offset how many bytes there were
	 * @param what what is missing
	 */
	public TruncatedIpcException(long offset, String what) {
		super("The Arrow data are truncated at offset %d: %s. Send all bytes, and close the writer so that it writes the end marker"
			.formatted(offset, what), null);
		this.offset = offset;
	}

	/**
	 * Returns how many bytes there were.
	 * @return the number
	 */
	public long getOffset() {
		return this.offset;
	}

}
