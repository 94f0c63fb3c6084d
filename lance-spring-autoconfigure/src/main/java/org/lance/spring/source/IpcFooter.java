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

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;

import org.apache.arrow.flatbuf.Footer;

/**
 * The first and the last bytes of the IPC file format.
 */
final class IpcFooter {

	/**
	 * The first four bytes of {@code ARROW1}, little-endian.
	 */
	static final int MAGIC_START = 0x4f525241;

	private static final byte[] MAGIC = "ARROW1".getBytes(StandardCharsets.US_ASCII);

	private static final int LENGTH = 4;

	/**
	 * What people send by mistake, by its first bytes.
	 */
	private static final Map<String, String> OTHERS = Map.of("PAR1", "a Parquet file", "FEA1",
			"a Feather file of version 1; write version 2", "ORC", "an ORC file", "\u001f\u008b",
			"gzip data; unpack them first", "PK", "a zip archive; unpack it first", "{", "JSON", "[", "JSON");

	private IpcFooter() {
	}

	/**
	 * Whether the next four bytes of a file are right; the last two are padding.
	 */
	static boolean isMagicEnd(ByteBuffer bytes) {
		return bytes.get(0) == MAGIC[4] && bytes.get(1) == MAGIC[5];
	}

	/**
	 * Describes bytes that no Arrow data begin with.
	 */
	static String describe(ByteBuffer bytes) {
		byte[] first = new byte[bytes.remaining()];
		bytes.duplicate().get(first);
		String text = new String(first, StandardCharsets.ISO_8859_1);
		String known = OTHERS.entrySet()
			.stream()
			.filter((entry) -> text.startsWith(entry.getKey()))
			.map((entry) -> ", which looks like " + entry.getValue())
			.findFirst()
			.orElse("");
		return "The data are no Arrow IPC stream or file: they begin with the bytes %s%s"
			.formatted(HexFormat.ofDelimiter(" ").formatHex(first), known);
	}

	/**
	 * Checks what follows the end marker of a file.
	 * @param bytes the bytes up to the end of the input
	 * @param position the length of the input
	 */
	static void check(ByteBuffer bytes, long position, long batches, long dictionaries) {
		int length = bytes.remaining() - LENGTH - MAGIC.length;
		if (length < 0 || !endsWithMagic(bytes)) {
			throw new TruncatedIpcException(position, "the footer of the file is not complete");
		}
		if (bytes.getInt(length) != length) {
			throw new MalformedIpcException("The footer of the file has %d bytes, but says that it has %d"
				.formatted(length, bytes.getInt(length)));
		}
		Footer footer = Footer.getRootAsFooter(bytes.slice(0, length));
		if (footer.recordBatchesLength() != batches || footer.dictionariesLength() != dictionaries) {
			throw new MalformedIpcException(
					"The footer of the file lists %d batches and %d dictionary batches, but %d and %d were read"
						.formatted(footer.recordBatchesLength(), footer.dictionariesLength(), batches, dictionaries));
		}
	}

	private static boolean endsWithMagic(ByteBuffer bytes) {
		return bytes.slice(bytes.remaining() - MAGIC.length, MAGIC.length).equals(ByteBuffer.wrap(MAGIC));
	}

}
