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

/**
 * What the messages of a file are turned into before they are written.
 *
 * @param compression how bodies are compressed
 * @param encrypted whether messages are encrypted
 * @param checksums whether the checksums of messages that are neither compressed nor
 * encrypted are needed
 */
record SpillFormat(SpillCompression compression, boolean encrypted, boolean checksums) {

	/**
	 * As they are.
	 */
	static final SpillFormat PLAIN = new SpillFormat(SpillCompression.NONE, false);

	SpillFormat(SpillCompression compression, boolean encrypted) {
		this(compression, encrypted, true);
	}

	/**
	 * Tells whether some bodies may be compressed.
	 */
	boolean isCompressed() {
		return this.compression.codec() != SpillCodec.NONE;
	}

}
