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

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;

/**
 * An input stream as a channel. Unlike the one of the JDK, an interrupt does not close it
 * and a read takes what is there instead of waiting for more.
 */
final class InputStreamChannel implements ReadableByteChannel {

	private static final int CHUNK = 64 * 1024;

	private final InputStream input;

	private byte[] chunk = new byte[0];

	private volatile boolean open = true;

	InputStreamChannel(InputStream input) {
		this.input = input;
	}

	@Override
	public int read(ByteBuffer target) throws IOException {
		if (target.hasArray()) {
			int read = this.input.read(target.array(), target.arrayOffset() + target.position(), target.remaining());
			target.position(target.position() + Math.max(read, 0));
			return read;
		}
		int length = Math.min(CHUNK, target.remaining());
		if (this.chunk.length < length) {
			this.chunk = new byte[CHUNK];
		}
		int read = this.input.read(this.chunk, 0, length);
		if (read > 0) {
			target.put(this.chunk, 0, read);
		}
		return read;
	}

	@Override
	public boolean isOpen() {
		return this.open;
	}

	@Override
	public void close() throws IOException {
		this.open = false;
		this.input.close();
	}

}
