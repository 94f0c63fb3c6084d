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

import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.IpcEncoder;
import org.lance.spring.stream.RecordBatch;

/**
 * Encodes the batches of a spill as its format says. What is made of a batch lives until
 * {@link #release()}.
 * <p>
 * One thread at a time.
 */
final class MessageEncoder implements AutoCloseable {

	private final IpcEncoder encoder;

	private final CompressionChoice choice;

	private final LongSupplier ticker;

	private final BodyCompressor compressor;

	private final ScratchMemory scratch;

	/**
	 * Creates an encoder.
	 * @param ticker the time in nanoseconds, from any origin
	 */
	MessageEncoder(Schema schema, SpillFormat format, BufferAllocator allocator, LongSupplier ticker) {
		this.encoder = new IpcEncoder(schema, this::rewrite);
		this.choice = CompressionChoice.of(format.compression().codec());
		this.ticker = ticker;
		this.compressor = new BodyCompressor(format.compression().level());
		this.scratch = new ScratchMemory(allocator);
	}

	private IpcEncoder.Body rewrite(List<Field> fields, ArrowRecordBatch sealed) {
		ArrowRecordBatch body = ViewCompactor.compact(fields, sealed, this.scratch);
		long length = body.getBuffers().stream().mapToLong(ArrowBuf::readableBytes).sum();
		if (!this.choice.compresses(length)) {
			return new IpcEncoder.Body(body, 0);
		}
		long start = this.ticker.getAsLong();
		IpcEncoder.Body compressed = this.compressor.compress(body, this.scratch);
		if (compressed.uncompressedLength() > 0) {
			this.choice.compressed(length, compressed.content().computeBodyLength(), this.ticker.getAsLong() - start);
		}
		return compressed;
	}

	IpcEncoder.Message schema(Map<Long, Field> dictionaryFields) {
		return this.encoder.schema(dictionaryFields);
	}

	List<IpcEncoder.DictionaryMessage> dictionaries(RecordBatch batch) {
		return this.encoder.dictionaries(batch);
	}

	IpcEncoder.Message batch(RecordBatch batch) {
		return this.encoder.batch(batch);
	}

	IpcEncoder.Message end() {
		return this.encoder.end();
	}

	long time() {
		return this.ticker.getAsLong();
	}

	/**
	 * Says that bytes were written.
	 * @param start the {@link #time()} before
	 */
	void written(long length, long start) {
		this.choice.written(length, time() - start);
	}

	/**
	 * Gives back what was made of the last batch.
	 */
	void release() {
		this.scratch.close();
	}

	/**
	 * Gives everything back. Idempotent.
	 */
	@Override
	public void close() {
		this.encoder.close();
		this.scratch.close();
		this.compressor.close();
	}

}
