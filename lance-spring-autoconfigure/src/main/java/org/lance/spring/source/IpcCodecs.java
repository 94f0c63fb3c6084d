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

import com.github.luben.zstd.Zstd;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.commons.compress.compressors.lz4.FramedLZ4CompressorInputStream;

/**
 * The codecs of compressed bodies, straight into the memory of the batch. Arrow's own
 * codecs are not used: theirs trust the length prefix, and for LZ4 copy three times
 * through the heap. The only class that refers to the optional libraries.
 */
final class IpcCodecs {

	private static final int CHUNK = 64 * 1024;

	private IpcCodecs() {
	}

	/**
	 * Decompresses a ZSTD frame.
	 * @return the bytes it has
	 */
	static long zstd(ArrowBuf source, long offset, long length, ArrowBuf target, long position, long targetLength) {
		long written = Zstd.decompressUnsafe(target.memoryAddress() + position, targetLength,
				source.memoryAddress() + offset, length);
		if (Zstd.isError(written)) {
			throw new MalformedIpcException("A ZSTD buffer can't be decompressed: " + Zstd.getErrorName(written));
		}
		return written;
	}

	/**
	 * Decompresses an LZ4 frame.
	 * @return the bytes it has; more than the target has if they don't fit
	 */
	static long lz4(ArrowBuf source, long offset, long length, ArrowBuf target, long position, long targetLength) {
		byte[] chunk = new byte[(int) Math.min(CHUNK, targetLength + 1)];
		long written = 0;
		try (InputStream in = new FramedLZ4CompressorInputStream(new Bytes(source, offset, length))) {
			for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
				if (written + read > targetLength) {
					return targetLength + 1;
				}
				target.setBytes(position + written, chunk, 0, read);
				written += read;
			}
			return written;
		}
		catch (IOException ex) {
			throw new MalformedIpcException("An LZ4 buffer can't be decompressed: " + ex.getMessage(), ex);
		}
	}

	/**
	 * The bytes of a buffer as a stream.
	 */
	private static final class Bytes extends InputStream {

		private final ArrowBuf source;

		private final long end;

		private long position;

		Bytes(ArrowBuf source, long offset, long length) {
			this.source = source;
			this.position = offset;
			this.end = offset + length;
		}

		@Override
		public int read() {
			return (this.position < this.end) ? this.source.getByte(this.position++) & 0xff : -1;
		}

		@Override
		public int read(byte[] target, int offset, int length) {
			if (this.position >= this.end) {
				return (length == 0) ? 0 : -1;
			}
			int read = (int) Math.min(length, this.end - this.position);
			this.source.getBytes(this.position, target, offset, read);
			this.position += read;
			return read;
		}

	}

}
