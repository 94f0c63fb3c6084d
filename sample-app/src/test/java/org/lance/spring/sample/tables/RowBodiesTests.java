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

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.lance.spring.stream.AsyncStep;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import reactor.core.publisher.Flux;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for the bodies of answers, when the table can't be read to its end or the client
 * does not want it.
 */
class RowBodiesTests {

	private static final Schema SCHEMA = new Schema(List.of(Field.nullable("n", new ArrowType.Int(32, true))));

	private static final int ROWS = 100_000;

	private static final Duration PATIENCE = Duration.ofSeconds(5);

	private static final byte[] ARROW_END = { -1, -1, -1, -1, 0, 0, 0, 0 };

	private final BufferAllocator allocator = new RootAllocator();

	private final DefaultDataBufferFactory buffers = new DefaultDataBufferFactory();

	@AfterEach
	void nothingIsLeft() {
		assertThat(this.allocator.getAllocatedMemory()).isZero();
		this.allocator.close();
	}

	@Test
	void whenReadingEndsThenTheArrowBodyHasItsEnd() {
		assertThat(completed(this::arrow)).endsWith(ARROW_END);
	}

	@Test
	void whenReadingFailsThenTheArrowBodyHasNoEnd() {
		byte[] body = failed(this::arrow);
		assertThat(body).hasSizeGreaterThan(2 * ROWS * Integer.BYTES);
		assertThat(Arrays.copyOfRange(body, body.length - ARROW_END.length, body.length)).isNotEqualTo(ARROW_END);
	}

	@Test
	void whenReadingEndsThenTheJsonBodyIsAnArray() {
		String json = new String(completed(this::json), StandardCharsets.UTF_8);
		assertThat(json).startsWith("[\n{\"n\":0},{\"n\":1},").endsWith("{\"n\":" + (ROWS - 1) + "}]\n");
		assertThat(JsonMapper.shared().readTree(json).size()).isEqualTo(2 * ROWS);
	}

	@Test
	void whenReadingFailsThenTheJsonBodyIsNoArray() {
		String json = new String(failed(this::json), StandardCharsets.UTF_8);
		assertThat(json).startsWith("[\n{\"n\":0},").endsWith("}");
	}

	@Test
	void whenAClientTakesOnePieceOnlyThenNoMoreAreMade() {
		for (Function<RecordBatchStream, Flux<DataBuffer>> body : List
			.<Function<RecordBatchStream, Flux<DataBuffer>>>of(this::arrow, this::json)) {
			RecordBatchStream stream = stream(null);
			assertThat(body.apply(stream).take(2).collectList().block(PATIENCE)).hasSize(2);
			stream.close();
			assertThat(stream.closed()).succeedsWithin(PATIENCE);
			assertThat(this.allocator.getAllocatedMemory()).isZero();
		}
	}

	private byte[] completed(Function<RecordBatchStream, Flux<DataBuffer>> body) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		body.apply(stream(null)).doOnNext((piece) -> append(out, piece)).blockLast(PATIENCE);
		return out.toByteArray();
	}

	private byte[] failed(Function<RecordBatchStream, Flux<DataBuffer>> body) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		Flux<DataBuffer> pieces = body.apply(stream(new IllegalStateException("boom")))
			.doOnNext((piece) -> append(out, piece));
		assertThatIllegalStateException().isThrownBy(() -> pieces.blockLast(PATIENCE)).withMessage("boom");
		return out.toByteArray();
	}

	private static void append(ByteArrayOutputStream out, DataBuffer piece) {
		byte[] bytes = new byte[piece.readableByteCount()];
		piece.read(bytes);
		out.writeBytes(bytes);
	}

	private Flux<DataBuffer> arrow(RecordBatchStream stream) {
		return ArrowRows.of(stream, this.buffers);
	}

	private Flux<DataBuffer> json(RecordBatchStream stream) {
		return JsonRows.of(stream, JsonMapper.shared().writer(), this.allocator, this.buffers);
	}

	private RecordBatchStream stream(RuntimeException failure) {
		return RecordBatchStream.from(SCHEMA, Map.of(), new TwoBatches(failure));
	}

	/**
	 * Two batches, then a failure or the end.
	 */
	private final class TwoBatches implements AsyncStep<RecordBatch> {

		private final RuntimeException failure;

		private int batches;

		TwoBatches(RuntimeException failure) {
			this.failure = failure;
		}

		@Override
		public CompletionStage<Optional<RecordBatch>> advance() {
			if (this.batches++ < 2) {
				return CompletableFuture.completedFuture(Optional.of(batch()));
			}
			return (this.failure != null) ? CompletableFuture.failedFuture(this.failure)
					: CompletableFuture.completedFuture(Optional.empty());
		}

		private RecordBatch batch() {
			BufferAllocator allocator = RowBodiesTests.this.allocator;
			try (VectorSchemaRoot root = VectorSchemaRoot.create(SCHEMA, allocator)) {
				for (int row = 0; row < ROWS; row++) {
					((IntVector) root.getVector("n")).setSafe(row, row);
				}
				root.setRowCount(ROWS);
				return RecordBatch.copyOf(root, null, allocator);
			}
		}

		@Override
		public CompletionStage<Void> release() {
			return CompletableFuture.completedFuture(null);
		}

	}

}
