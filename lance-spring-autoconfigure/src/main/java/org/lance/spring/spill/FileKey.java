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

import java.util.Arrays;

import javax.crypto.SecretKey;

/**
 * The key of one file. Lives in memory only, and can be wiped, which those of the JDK
 * can't.
 */
final class FileKey implements SecretKey {

	private static final long serialVersionUID = 1L;

	private final transient byte[] bytes;

	private transient volatile boolean destroyed;

	/**
	 * Creates a key.
	 * @param bytes its bytes, taken over
	 */
	FileKey(byte[] bytes) {
		this.bytes = bytes;
	}

	@Override
	public String getAlgorithm() {
		return "AES";
	}

	@Override
	public String getFormat() {
		return "RAW";
	}

	@Override
	public byte[] getEncoded() {
		if (this.destroyed) {
			throw new IllegalStateException("The key of this spill file was wiped");
		}
		return this.bytes.clone();
	}

	@Override
	public void destroy() {
		this.destroyed = true;
		Arrays.fill(this.bytes, (byte) 0);
	}

	@Override
	public boolean isDestroyed() {
		return this.destroyed;
	}

}
