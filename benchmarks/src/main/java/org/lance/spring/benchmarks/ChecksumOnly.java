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

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;

import org.lance.spring.stream.IpcEncoder;

/**
 * Writes nothing: computes the checksums that the engine computes while it writes.
 */
final class ChecksumOnly implements BatchWriter {

	private final Batches batches;

	private final List<List<ByteBuffer>> messages = new ArrayList<>();

	private int sum;

	ChecksumOnly(Batches batches) {
		this.batches = batches;
		try (IpcEncoder encoder = new IpcEncoder(batches.schema())) {
			encoder.schema(Map.of());
			batches.distinct().forEach((batch) -> this.messages.add(encoder.batch(batch).buffers()));
		}
	}

	@Override
	public void write() {
		for (int i = 0; i < this.batches.size(); i++) {
			CRC32 crc = new CRC32();
			for (ByteBuffer buffer : this.messages.get(i % this.messages.size())) {
				crc.update(buffer.duplicate());
			}
			this.sum ^= (int) crc.getValue();
		}
	}

	int sum() {
		return this.sum;
	}

	@Override
	public void remove() {
	}

	@Override
	public void close() {
	}

}
