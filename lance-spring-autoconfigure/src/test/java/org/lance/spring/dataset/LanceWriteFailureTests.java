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

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.stream.InvalidRecordBatchException;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.stream.SchemaMismatchException;
import org.lance.spring.stream.StreamAdmissionException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of {@link LanceTemplate}: what becomes of writes that fail.
 */
class LanceWriteFailureTests extends AbstractLanceTests {

	static Stream<Throwable> failures() {
		return Stream.of(new IOException("disk\0gone"), new IllegalStateException("state"),
				new AssertionError("assertion"), new OutOfMemoryError("memory"), new StackOverflowError(),
				new LanceReadException("other table", "other", null), new InvalidRecordBatchException("bad batch"));
	}

	@ParameterizedTest
	@MethodSource("failures")
	void whenSourceFailsAtThirdBatchThenItsVeryFailureIsTheCauseAndNothingIsCommitted(Throwable thrown)
			throws Exception {
		for (LanceWriteMode mode : LanceWriteMode.values()) {
			if (mode == LanceWriteMode.APPEND) {
				write(source(1, 5), LanceWriteMode.CREATE);
			}
			TestSource source = source(5, (i) -> (i == 2) ? failing(thrown) : batch(100 * i, 100));
			assertThat(failure(this.template.write(this.uri, source, mode)))
				.isInstanceOfSatisfying(LanceWriteException.class, (ex) -> {
					assertThat(ex.getCause()).isSameAs(thrown);
					assertThat(ex.getUri()).isEqualTo(this.uri);
				});
			assertThat(this.template.openWrites()).isZero();
			assertThat(await(this.template.exists(this.uri))).isEqualTo(mode != LanceWriteMode.CREATE);
			if (mode != LanceWriteMode.CREATE) {
				assertThat(await(this.template.describe(this.uri))).isEqualTo(new LanceTable(1, 5, SCHEMA));
			}
		}
	}

	private static RecordBatch failing(Throwable failure) {
		return LanceWriteFailureTests.<RecordBatch, RuntimeException>sneaky(failure);
	}

	@SuppressWarnings("unchecked")
	private static <T, E extends Throwable> T sneaky(Throwable failure) throws E {
		throw (E) failure;
	}

	@Test
	void whenCreateFailedThenNextCreateWorks() throws Exception {
		TestSource source = source(2, (i) -> (i == 1) ? failing(new IOException("first")) : batch(0, 10));
		failure(this.template.write(this.uri, source, LanceWriteMode.CREATE));
		assertThat(write(source(1, 3), LanceWriteMode.CREATE).version()).isEqualTo(1);
		assertThat(ids()).isEqualTo(range(0, 3));
	}

	@Test
	void whenSourceCannotBeOpenedThenThatIsTheCause() throws Exception {
		StreamAdmissionException[] thrown = new StreamAdmissionException[1];
		TestSource source = new TestSource(SCHEMA, Map.of(), () -> {
			try {
				this.background.close();
				return RecordBatchStream.background(SCHEMA, Map.of(), List.<RecordBatch>of().iterator(),
						this.background, 1);
			}
			catch (StreamAdmissionException ex) {
				thrown[0] = ex;
				throw ex;
			}
		});
		assertThat(failure(this.template.write(this.uri, source, LanceWriteMode.CREATE)))
			.isInstanceOfSatisfying(LanceWriteException.class, (ex) -> assertThat(ex.getCause()).isSameAs(thrown[0]));
		assertThat(source.isClosed()).isTrue();
	}

	@Test
	void whenCancelledWhileReaderWaitsThenNothingIsCommittedAndThreadIsFree() throws Exception {
		write(source(1, 5), LanceWriteMode.CREATE);
		CompletableFuture<Void> reached = new CompletableFuture<>();
		CountDownLatch gate = new CountDownLatch(1);
		TestSource source = source(3, (i) -> {
			if (i == 1) {
				reached.complete(null);
				awaitGate(gate);
			}
			return batch(10 * i, 10);
		});
		CompletableFuture<LanceWriteResult> write = this.template.write(this.uri, source, LanceWriteMode.APPEND)
			.toCompletableFuture();
		await(reached);
		assertThat(write.cancel(true)).isTrue();
		// The source still blocks its thread, yet the thread of the write is free.
		Awaitility.await().atMost(10, TimeUnit.SECONDS).until(() -> this.template.openWrites() == 0);
		gate.countDown();
		assertThat(await(this.template.describe(this.uri))).isEqualTo(new LanceTable(1, 5, SCHEMA));
		assertThat(write).isCancelled();
	}

	private static void awaitGate(CountDownLatch gate) {
		try {
			assertThat(gate.await(30, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void whenCancelledWhileWaitingThenSourceIsClosedUnread() throws Exception {
		Pending pending = new Pending(
				this.engine.closeLater(new LanceTemplate(this.engine.allocator(), this.background, 1)));
		CompletableFuture<LanceWriteResult> first = pending.write(this.uri);
		TestSource waiting = source(1, (i) -> failing(new AssertionError("read")));
		CompletableFuture<LanceWriteResult> second = pending.template
			.write(this.uri + "2", waiting, LanceWriteMode.CREATE)
			.toCompletableFuture();
		assertThat(second.cancel(true)).isTrue();
		assertThat(waiting.isClosed()).isTrue();
		assertThat(pending.template.openWrites()).isEqualTo(1);
		first.cancel(true);
		Awaitility.await().until(() -> pending.template.openWrites() == 0);
	}

	@Test
	void whenTooManyWritesWaitThenOneMoreIsRefused() throws Exception {
		Pending pending = new Pending(
				this.engine.closeLater(new LanceTemplate(this.engine.allocator(), this.background, 1)));
		CompletableFuture<LanceWriteResult> first = pending.write(this.uri);
		for (int i = 0; i < 102; i++) {
			pending.template.write(this.uri + i, source(1, 1), LanceWriteMode.CREATE);
		}
		TestSource refused = source(1, 1);
		assertThat(failure(pending.template.write(this.uri + "x", refused, LanceWriteMode.CREATE)))
			.isInstanceOfSatisfying(LanceRejectedException.class,
					(ex) -> assertThat(ex.getMaxWaiting()).isEqualTo(102));
		assertThat(refused.isClosed()).isTrue();
		pending.template.close();
		await(pending.template.closed());
		assertThat(failure(first)).isInstanceOf(LanceClosedException.class);
		assertThat(await(this.template.exists(this.uri + "0"))).isFalse();
	}

	@Test
	void whenClosedInTheMiddleThenWritesFailAndNothingIsCommitted() throws Exception {
		Pending pending = new Pending(this.template);
		CompletableFuture<LanceWriteResult> running = pending.write(this.uri);
		this.template.close();
		assertThat(failure(running)).isInstanceOf(LanceClosedException.class);
		await(this.template.closed());
		TestSource late = source(1, 1);
		assertThat(failure(this.template.write(this.uri, late, LanceWriteMode.CREATE)))
			.isInstanceOf(LanceClosedException.class);
		assertThat(late.isClosed()).isTrue();
		assertThat(failure(this.template.countRows(this.uri))).isInstanceOf(LanceClosedException.class);
		LanceTemplate other = this.engine.closeLater(new LanceTemplate(this.engine.allocator(), this.background, 1));
		assertThat(await(other.exists(this.uri))).isFalse();
	}

	@Test
	void whenIdleThenClosedEndsAtOnce() {
		this.template.close();
		this.template.close();
		assertThat(this.template.closed().toCompletableFuture()).isCompleted();
	}

	@ParameterizedTest
	@EnumSource(LanceWriteMode.class)
	void whenNullComesInColumnThatAllowsNoneThenColumnIsNamed(LanceWriteMode mode) throws Exception {
		if (mode != LanceWriteMode.CREATE) {
			write(source(1, 5), LanceWriteMode.CREATE);
		}
		Schema nullable = new Schema(List.of(Field.nullable("id", new ArrowType.Int(64, true)),
				Field.nullable("name", new ArrowType.Utf8())));
		Schema schema = (mode == LanceWriteMode.APPEND) ? nullable : SCHEMA;
		TestSource source = source(schema, 2, (i) -> withNull(schema, i == 1));
		assertThat(failure(this.template.write(this.uri, source, mode))).isInstanceOf(InvalidRecordBatchException.class)
			.hasMessageContaining("'id'");
		assertThat(await(this.template.exists(this.uri))).isEqualTo(mode != LanceWriteMode.CREATE);
		if (mode == LanceWriteMode.APPEND) {
			write(source(schema, 1, (i) -> withNull(schema, false)), mode);
			assertThat(ids()).hasSize(7);
		}
	}

	private RecordBatch withNull(Schema schema, boolean isNull) {
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			BigIntVector ids = (BigIntVector) root.getVector("id");
			ids.setSafe(0, 1);
			if (isNull) {
				ids.setNull(1);
			}
			else {
				ids.setSafe(1, 2);
			}
			root.setRowCount(2);
			return RecordBatch.copyOf(root, null, this.engine.allocator());
		}
	}

	@Test
	void whenBatchHasAnotherSchemaThanItsSourceThenItIsRefused() throws Exception {
		Schema other = new Schema(List.of(Field.notNullable("id", new ArrowType.Int(64, true)),
				Field.nullable("name", new ArrowType.Int(64, true))));
		TestSource source = source(SCHEMA, 2, (i) -> {
			if (i == 0) {
				return batch(0, 5);
			}
			try (VectorSchemaRoot root = VectorSchemaRoot.create(other, this.engine.allocator())) {
				root.getFieldVectors().forEach((vector) -> new Filler(1, 0).fill(vector, 5));
				root.setRowCount(5);
				return RecordBatch.copyOf(root, null, this.engine.allocator());
			}
		});
		assertThat(failure(this.template.write(this.uri, source, LanceWriteMode.CREATE)))
			.isInstanceOf(SchemaMismatchException.class)
			.hasMessageContaining("'name'");
	}

	static Stream<Consumer<VectorSchemaRoot>> malformed() {
		return Stream.of((root) -> root.getVector("n").setValueCount(5), (root) -> root.getVector("t").setValueCount(5),
				(root) -> root.getVector("t").getOffsetBuffer().setInt(8, 1_000_000),
				(root) -> root.getVector("t").getOffsetBuffer().setInt(8, -5),
				(root) -> ((ListVector) root.getVector("l")).getOffsetBuffer().setInt(8, 1_000_000),
				(root) -> ((ListVector) root.getVector("l")).getDataVector().setValueCount(1),
				(root) -> ((FixedSizeListVector) root.getVector("v")).getDataVector().setValueCount(7),
				(root) -> ((StructVector) root.getVector("s")).getChild("x").setValueCount(3));
	}

	@ParameterizedTest
	@MethodSource("malformed")
	void whenVectorsAreShortOrOffsetsPointOutsideThenBatchIsRefusedAndJvmLives(Consumer<VectorSchemaRoot> damage)
			throws Exception {
		ArrowType integer = new ArrowType.Int(32, true);
		Schema schema = new Schema(List.of(Field.nullable("n", integer), Field.nullable("t", new ArrowType.Utf8()),
				new Field("l", FieldType.nullable(new ArrowType.List()), List.of(Field.nullable("item", integer))),
				new Field("v", FieldType.nullable(new ArrowType.FixedSizeList(4)),
						List.of(Field.nullable("item", new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE)))),
				new Field("s", FieldType.nullable(new ArrowType.Struct()), List.of(Field.nullable("x", integer)))));
		TestSource source = source(schema, 2, (i) -> {
			try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
				root.getFieldVectors().forEach((vector) -> new Filler(1, 0).fill(vector, 10));
				root.setRowCount(10);
				if (i == 1) {
					damage.accept(root);
				}
				return RecordBatch.copyOf(root, null, this.engine.allocator());
			}
		});
		assertThat(failure(this.template.write(this.uri, source, LanceWriteMode.CREATE)))
			.isInstanceOf(LanceWriteException.class)
			.hasCauseInstanceOf(InvalidRecordBatchException.class);
		assertThat(await(this.template.exists(this.uri))).isFalse();
		write(source(1, 3), LanceWriteMode.CREATE);
	}

	@Test
	void whenReadFailsOnTheFileSystemThenExistsFailsToo() throws Exception {
		java.nio.file.Files.writeString(java.nio.file.Path.of(this.uri), "a file");
		assertThat(failure(this.template.exists(this.uri))).isInstanceOf(LanceReadException.class);
		assertThat(failure(this.template.write(this.uri, source(1, 1), LanceWriteMode.CREATE)))
			.isInstanceOf(LanceException.class);
	}

	@Test
	void whenResultIsWaitedForOnThreadOfTheEngineThenThatIsRefused() throws Exception {
		CompletableFuture<CompletionStage<LanceWriteResult>> second = new CompletableFuture<>();
		CompletionStage<LanceWriteResult> chained = this.template.write(this.uri, source(1, 1), LanceWriteMode.CREATE)
			.thenApply((result) -> {
				second.complete(this.template.write(this.uri, source(0, 0), LanceWriteMode.APPEND));
				return second.join().toCompletableFuture().join();
			});
		assertThat(failure(chained)).isInstanceOf(IllegalStateException.class)
			.hasMessageContaining("belongs to the engine");
		// It goes on, and must have given its batch back before the memory is looked at.
		await(await(second));
	}

	/**
	 * A template with a write whose source gives nothing.
	 */
	private final class Pending {

		private final LanceTemplate template;

		Pending(LanceTemplate template) {
			this.template = template;
		}

		CompletableFuture<LanceWriteResult> write(String uri) throws Exception {
			CompletableFuture<Void> reached = new CompletableFuture<>();
			TestSource source = new TestSource(SCHEMA, Map.of(),
					() -> RecordBatchStream.from(SCHEMA, Map.of(), new NeverStep(reached)));
			CompletableFuture<LanceWriteResult> write = this.template.write(uri, source, LanceWriteMode.CREATE)
				.toCompletableFuture();
			await(reached);
			return write;
		}

	}

}
