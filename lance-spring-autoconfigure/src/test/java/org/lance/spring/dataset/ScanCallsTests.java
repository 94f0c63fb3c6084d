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

package org.lance.spring.dataset;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;

import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.BackgroundIterator;
import org.lance.spring.stream.EngineFuture;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.stream.StreamAdmissionException;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of {@link ScanCalls}.
 */
class ScanCallsTests {

	private static final Schema SCHEMA = new Schema(List.of(Field.nullable("n", new ArrowType.Int(32, true))));

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private final List<String> closed = new ArrayList<>();

	@Test
	void whenThereIsASlotThenTheScanIsRead() throws Exception {
		BackgroundExecutor background = new BackgroundExecutor(this.engine.pool(1), 1);
		EngineFuture<OpenScan> opening = new EngineFuture<>();
		EngineFuture<RecordBatchStream> stream = ScanCalls.stream(opening, background);
		opening.complete(scan(null));
		List<RecordBatch> batches = EngineExtension.await(EngineExtension.await(stream).collect());
		assertThat(batches).hasSize(1);
		batches.forEach(RecordBatch::close);
		assertThat(this.closed).containsExactly("scanner", "dataset");
	}

	@Test
	void whenTheStreamIsRefusedThenThatIsToldAlthoughClosingFailsToo() throws Exception {
		BackgroundExecutor background = new BackgroundExecutor(this.engine.pool(1), 1);
		BackgroundIterator<Integer> other = BackgroundIterator.of(List.of(1).iterator(), background);
		for (Throwable failure : new Throwable[] { new IOException("disk"), new NoClassDefFoundError("missing") }) {
			this.closed.clear();
			EngineFuture<OpenScan> opening = new EngineFuture<>();
			EngineFuture<RecordBatchStream> stream = ScanCalls.stream(opening, background);
			opening.complete(scan(failure));
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(stream))
				.withCauseInstanceOf(StreamAdmissionException.class)
				.satisfies((ex) -> assertThat(ex.getCause().getSuppressed()).containsExactly(failure));
			assertThat(this.closed).containsExactly("scanner", "dataset");
			assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
		}
		other.close();
	}

	@Test
	void whenOpeningFailsThenThatIsTold() {
		LanceReadException failure = new LanceReadException("no", "x", null);
		EngineFuture<OpenScan> opening = new EngineFuture<>();
		EngineFuture<RecordBatchStream> stream = ScanCalls.stream(opening, this.engine.background(1));
		opening.completeExceptionally(failure);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> EngineExtension.await(stream))
			.satisfies((ex) -> assertThat(ex.getCause()).isSameAs(failure));
	}

	@Test
	void whenNobodyWantsTheStreamThenItIsClosed() throws Exception {
		BackgroundExecutor background = new BackgroundExecutor(this.engine.pool(1), 1);
		EngineFuture<OpenScan> opening = new EngineFuture<>();
		ScanCalls.stream(opening, background).cancel(true);
		opening.complete(scan(null));
		EngineExtension.await(background.drain(java.time.Duration.ofMinutes(1)));
		assertThat(this.closed).containsExactly("scanner", "dataset");
	}

	/**
	 * A scan of one batch, whose scanner fails when it is closed.
	 */
	private OpenScan scan(Throwable failure) throws IOException {
		AutoCloseable scanner = () -> {
			this.closed.add("scanner");
			if (failure instanceof Error error) {
				throw error;
			}
			if (failure != null) {
				throw (Exception) failure;
			}
		};
		ArrowStreamReader reader = new ArrowStreamReader(new ByteArrayInputStream(ipc()), this.engine.allocator());
		return new OpenScan("x", reader, this.engine.allocator(), scanner, () -> this.closed.add("dataset"));
	}

	private byte[] ipc() throws IOException {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (VectorSchemaRoot root = VectorSchemaRoot.create(SCHEMA, this.engine.allocator());
				ArrowStreamWriter writer = new ArrowStreamWriter(root, null, out)) {
			root.getVector(0).setNull(0);
			root.setRowCount(1);
			writer.writeBatch();
		}
		return out.toByteArray();
	}

}
