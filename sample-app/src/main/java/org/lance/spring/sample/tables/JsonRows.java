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

package org.lance.spring.sample.tables;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.arrow.memory.BufferAllocator;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.SynchronousSink;
import tools.jackson.databind.ObjectWriter;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.core.io.buffer.DataBufferUtils;

/**
 * Writes a stream as one JSON array of rows, a piece at a time, as the client takes them.
 */
final class JsonRows {

	private static final int PIECE = 32 * 1024;

	private final ObjectWriter writer;

	private final BufferAllocator allocator;

	private final DataBufferFactory buffers;

	private final AtomicBoolean first = new AtomicBoolean(true);

	private JsonRows(ObjectWriter writer, BufferAllocator allocator, DataBufferFactory buffers) {
		this.writer = writer;
		this.allocator = allocator;
		this.buffers = buffers;
	}

	/**
	 * Makes the body of a response.
	 * @param stream the rows, closed by the caller when the body was written or cancelled
	 * @param writer writes a row
	 * @param allocator the allocator for the vectors
	 * @param buffers where pieces of the body go
	 * @return the body
	 */
	static Flux<DataBuffer> of(RecordBatchStream stream, ObjectWriter writer, BufferAllocator allocator,
			DataBufferFactory buffers) {
		JsonRows rows = new JsonRows(writer, allocator, buffers);
		Flux<DataBuffer> batches = JdkFlowAdapter.flowPublisherToFlux(stream)
			.concatMap(rows::batch, 1)
			.doOnDiscard(RecordBatch.class, RecordBatch::close);
		return Flux.concat(rows.text("["), batches, rows.text("]\n"));
	}

	private Flux<DataBuffer> text(String text) {
		return Flux.defer(() -> Flux.just(this.buffers.wrap(text.getBytes(StandardCharsets.US_ASCII))));
	}

	/**
	 * Pieces of a batch. The state is closed by the generator, never while a piece is
	 * being made: the memory of the batch can't go away under it.
	 */
	private Flux<DataBuffer> batch(RecordBatch batch) {
		return Flux.generate(() -> new Rows(batch, this.allocator), this::next, Rows::close);
	}

	private Rows next(Rows rows, SynchronousSink<DataBuffer> sink) {
		if (!rows.hasNext()) {
			sink.complete();
			return rows;
		}
		DataBuffer piece = this.buffers.allocateBuffer(PIECE);
		try {
			while (rows.hasNext() && piece.readableByteCount() < PIECE) {
				piece.write((byte) (this.first.getAndSet(false) ? '\n' : ','));
				piece.write(this.writer.writeValueAsBytes(rows.next()));
			}
		}
		catch (Throwable ex) {
			DataBufferUtils.release(piece);
			throw ex;
		}
		sink.next(piece);
		return rows;
	}

	/**
	 * The rows of a batch.
	 */
	private static final class Rows implements AutoCloseable {

		private final OpenBatch batch;

		private int row;

		Rows(RecordBatch batch, BufferAllocator allocator) {
			try (batch) {
				this.batch = batch.open(allocator);
			}
		}

		boolean hasNext() {
			return this.row < this.batch.root().getRowCount();
		}

		Object next() {
			return JsonValues.row(this.batch, this.row++);
		}

		@Override
		public void close() {
			this.batch.close();
		}

	}

}
