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

package org.lance.spring.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.lance.spring.stream.IpcEncoder;
import org.lance.spring.stream.RecordBatch;

/**
 * Writes the same bytes without any work on them: messages that were encoded before, in
 * pieces of 1 MiB.
 */
final class RawWriter implements BatchWriter {

	private static final int CHUNK = 1 << 20;

	private final Batches batches;

	private final Directory directory;

	private final List<ByteBuffer> messages = new ArrayList<>();

	private Path file;

	RawWriter(Batches batches, Directory directory) {
		this.batches = batches;
		this.directory = directory;
		this.file = directory.newFile();
		try (IpcEncoder encoder = new IpcEncoder(batches.schema())) {
			encoder.schema(Map.of());
			batches.distinct().forEach((batch) -> this.messages.add(encode(encoder, batch)));
		}
	}

	private static ByteBuffer encode(IpcEncoder encoder, RecordBatch batch) {
		IpcEncoder.Message message = encoder.batch(batch);
		ByteBuffer bytes = ByteBuffer.allocateDirect(Math.toIntExact(message.length()));
		message.buffers().forEach(bytes::put);
		return bytes.flip();
	}

	@Override
	public void write() throws IOException {
		try (FileChannel channel = FileChannel.open(this.file, StandardOpenOption.CREATE_NEW,
				StandardOpenOption.WRITE)) {
			for (int i = 0; i < this.batches.size(); i++) {
				ByteBuffer message = this.messages.get(i % this.messages.size());
				for (int start = 0; start < message.limit(); start += CHUNK) {
					write(channel, message.slice(start, Math.min(CHUNK, message.limit() - start)));
				}
			}
		}
	}

	private static void write(FileChannel channel, ByteBuffer chunk) throws IOException {
		while (chunk.hasRemaining()) {
			channel.write(chunk);
		}
	}

	@Override
	public void remove() throws IOException {
		Files.delete(this.file);
		this.file = this.directory.newFile();
	}

	@Override
	public void close() {
	}

}
