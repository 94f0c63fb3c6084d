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

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.IpcEncoder;
import org.lance.spring.stream.IpcEncoder.Message;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.SynchronousSink;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;

/**
 * Writes a stream as an Arrow IPC stream, a piece at a time, as the client takes them.
 * The end marker comes only when all batches went out, so a short answer can't be taken
 * for a complete one.
 */
final class ArrowRows {

	private static final int PIECE = 32 * 1024;

	private final RecordBatchStream stream;

	private final DataBufferFactory buffers;

	private final IpcEncoder encoder;

	private boolean closed;

	private ArrowRows(RecordBatchStream stream, DataBufferFactory buffers) {
		this.stream = stream;
		this.buffers = buffers;
		this.encoder = new IpcEncoder(stream.schema());
	}

	/**
	 * Makes the body of a response.
	 * @param stream the rows, closed by the caller when the body was written or cancelled
	 * @param buffers where pieces of the body go
	 * @return the body, for one subscriber
	 */
	static Flux<DataBuffer> of(RecordBatchStream stream, DataBufferFactory buffers) {
		return Flux.defer(() -> new ArrowRows(stream, buffers).body());
	}

	private Flux<DataBuffer> body() {
		Flux<DataBuffer> head = pieces(null,
				(messages) -> messages.accept(this.encoder.schema(this.stream.dictionaryFields())));
		Flux<DataBuffer> batches = JdkFlowAdapter.flowPublisherToFlux(this.stream)
			.concatMap((batch) -> pieces(batch, (messages) -> {
				this.encoder.dictionaries(batch).forEach((dictionary) -> messages.accept(dictionary.message()));
				messages.accept(this.encoder.batch(batch));
			}), 1)
			.doOnDiscard(RecordBatch.class, RecordBatch::close);
		Flux<DataBuffer> end = pieces(null, (messages) -> messages.accept(this.encoder.end()));
		return Flux.concat(head, batches, end).doFinally((signal) -> close());
	}

	/**
	 * Pieces of messages. Their state is closed by the generator, never while a piece is
	 * being made: the memory of the batch can't go away under it.
	 */
	private Flux<DataBuffer> pieces(@Nullable RecordBatch batch, Consumer<Consumer<Message>> encode) {
		return Flux.generate(() -> new Pieces(batch, encode(batch, encode)), this::next, Pieces::close);
	}

	/**
	 * Not at the same time as {@link #close()}, which a client that goes away causes at
	 * any time.
	 */
	private synchronized Deque<ByteBuffer> encode(@Nullable RecordBatch batch, Consumer<Consumer<Message>> encode) {
		Deque<ByteBuffer> bytes = new ArrayDeque<>();
		try {
			if (!this.closed) {
				encode.accept((message) -> bytes.addAll(message.buffers()));
			}
			return bytes;
		}
		catch (Throwable ex) {
			if (batch != null) {
				batch.close();
			}
			throw ex;
		}
	}

	private Pieces next(Pieces pieces, SynchronousSink<DataBuffer> sink) {
		if (pieces.hasNext()) {
			DataBuffer piece = this.buffers.allocateBuffer(PIECE);
			pieces.copyTo(piece);
			sink.next(piece);
		}
		else {
			sink.complete();
		}
		return pieces;
	}

	private synchronized void close() {
		this.closed = true;
		this.encoder.close();
	}

	/**
	 * The bytes of some messages that are still to be copied.
	 *
	 * @param batch the batch whose memory they are, or {@code null}
	 * @param bytes the bytes
	 */
	private record Pieces(@Nullable RecordBatch batch, Deque<ByteBuffer> bytes) implements AutoCloseable {

		boolean hasNext() {
			while (!this.bytes.isEmpty() && !this.bytes.element().hasRemaining()) {
				this.bytes.remove();
			}
			return !this.bytes.isEmpty();
		}

		void copyTo(DataBuffer piece) {
			int room = PIECE;
			while (room > 0 && hasNext()) {
				ByteBuffer first = this.bytes.element();
				ByteBuffer part = first.slice(first.position(), Math.min(room, first.remaining()));
				first.position(first.position() + part.remaining());
				room -= part.remaining();
				piece.write(part);
			}
		}

		@Override
		public void close() {
			if (this.batch != null) {
				this.batch.close();
			}
		}

	}

}
