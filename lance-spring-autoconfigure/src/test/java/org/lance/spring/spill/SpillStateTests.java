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

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The state machine of a spill as a table: each state with each event.
 */
class SpillStateTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private final FakeStore store = new FakeStore();

	private final MemoryBudget budget = new MemoryBudget(Long.MAX_VALUE);

	private final CountDownLatch gate = new CountDownLatch(1);

	private Batches batches;

	private ExecutorService pool;

	private SpillCore core;

	private SpillLease lease;

	private boolean gone;

	private final List<CompletionStage<?>> pending = new ArrayList<>();

	@BeforeEach
	void setUp() {
		this.batches = new Batches(this.engine.allocator());
		this.pool = this.engine.pool(2);
	}

	private static final RuntimeException SOURCE_FAILURE = new IllegalArgumentException("boom");

	private enum Event {

		WRITE, FINISH, SEND_ERROR, ABANDON, CLOSE, READ

	}

	static Stream<Arguments> table() {
		return Stream.of(
				// from, event, to, outcome of the call, outcome of a reader afterwards
				row(State.IN_MEMORY, Event.WRITE, State.IN_MEMORY, "ok", "batch"),
				row(State.IN_MEMORY, Event.FINISH, State.FINISHED, "ok", "batch"),
				row(State.IN_MEMORY, Event.SEND_ERROR, State.FAILED, "ok", "SpillSourceFailedException"),
				row(State.IN_MEMORY, Event.ABANDON, State.FAILED, "ok", "SpillAbandonedException"),
				row(State.IN_MEMORY, Event.CLOSE, State.CLOSED, "ok", "SpillClosedException"),
				row(State.IN_MEMORY, Event.READ, State.IN_MEMORY, "batch", "batch"),
				row(State.SWITCHING, Event.WRITE, State.SWITCHING, "IllegalStateException", "batch"),
				row(State.SWITCHING, Event.FINISH, State.SWITCHING, "IllegalStateException", "batch"),
				row(State.SWITCHING, Event.SEND_ERROR, State.FAILED, "ok", "SpillSourceFailedException"),
				row(State.SWITCHING, Event.ABANDON, State.FAILED, "ok", "SpillAbandonedException"),
				row(State.SWITCHING, Event.CLOSE, State.CLOSED, "ok", "SpillClosedException"),
				row(State.SWITCHING, Event.READ, State.SWITCHING, "batch", "batch"),
				row(State.ON_DISK, Event.WRITE, State.ON_DISK, "ok", "batch"),
				row(State.ON_DISK, Event.FINISH, State.FINISHED, "ok", "batch"),
				row(State.ON_DISK, Event.SEND_ERROR, State.FAILED, "ok", "SpillSourceFailedException"),
				row(State.ON_DISK, Event.ABANDON, State.FAILED, "ok", "SpillAbandonedException"),
				row(State.ON_DISK, Event.CLOSE, State.CLOSED, "ok", "SpillClosedException"),
				row(State.ON_DISK, Event.READ, State.ON_DISK, "batch", "batch"),
				row(State.FINISHED, Event.WRITE, State.FINISHED, "IllegalStateException", "batch"),
				row(State.FINISHED, Event.FINISH, State.FINISHED, "IllegalStateException", "batch"),
				row(State.FINISHED, Event.SEND_ERROR, State.FINISHED, "ok", "batch"),
				row(State.FINISHED, Event.ABANDON, State.FINISHED, "ok", "batch"),
				row(State.FINISHED, Event.CLOSE, State.CLOSED, "ok", "SpillClosedException"),
				row(State.FINISHED, Event.READ, State.FINISHED, "batch", "batch"),
				row(State.FAILED, Event.WRITE, State.FAILED, "SpillSourceFailedException",
						"SpillSourceFailedException"),
				row(State.FAILED, Event.FINISH, State.FAILED, "SpillSourceFailedException",
						"SpillSourceFailedException"),
				row(State.FAILED, Event.SEND_ERROR, State.FAILED, "ok", "SpillSourceFailedException"),
				row(State.FAILED, Event.ABANDON, State.FAILED, "ok", "SpillSourceFailedException"),
				row(State.FAILED, Event.CLOSE, State.FAILED, "ok", "SpillSourceFailedException"),
				row(State.FAILED, Event.READ, State.FAILED, "SpillSourceFailedException", "SpillSourceFailedException"),
				row(State.CLOSED, Event.WRITE, State.CLOSED, "SpillClosedException", "SpillClosedException"),
				row(State.CLOSED, Event.FINISH, State.CLOSED, "SpillClosedException", "SpillClosedException"),
				row(State.CLOSED, Event.SEND_ERROR, State.CLOSED, "ok", "SpillClosedException"),
				row(State.CLOSED, Event.ABANDON, State.CLOSED, "ok", "SpillClosedException"),
				row(State.CLOSED, Event.CLOSE, State.CLOSED, "ok", "SpillClosedException"),
				row(State.CLOSED, Event.READ, State.CLOSED, "SpillClosedException", "SpillClosedException"));
	}

	private static Arguments row(State from, Event event, State to, String outcome, String reader) {
		return Arguments.of(from, event, to, outcome, reader);
	}

	@ParameterizedTest(name = "{0} x {1} -> {2}")
	@MethodSource("table")
	void transition(State from, Event event, State to, String outcome, String readerOutcome) throws Exception {
		bring(from);
		assertThat(this.core.snapshot().state()).isEqualTo(from);
		assertThat(fire(event)).isEqualTo(outcome);
		assertThat(this.core.snapshot().state()).isEqualTo(to);
		assertThat(read()).isEqualTo(readerOutcome);
		this.gate.countDown();
		this.core.close("it was closed", false);
		EngineExtension.await(this.core.closed());
		assertThat(this.gone).isTrue();
		assertThat(this.budget.used()).isZero();
		assertThat(this.store.files).allMatch((file) -> file.deleted);
		assertThat(this.core.snapshot().memoryBytes()).isZero();
		assertThat(this.core.snapshot().diskBytes()).isZero();
		for (CompletionStage<?> stage : this.pending) {
			assertThat(stage.toCompletableFuture()).isDone();
		}
	}

	@Test
	void tableHasEveryStateWithEveryEvent() {
		assertThat(table().map((row) -> row.get()[0] + " x " + row.get()[1]).distinct())
			.hasSize(State.values().length * Event.values().length);
	}

	private void bring(State to) throws Exception {
		boolean toDisk = to == State.ON_DISK || to == State.SWITCHING;
		this.core = new SpillCore("test", Batches.SCHEMA, Map.of(),
				new SpillMemory(toDisk ? 4096 : 1 << 20, this.budget, this.engine.allocator(), Batches.SCHEMA),
				new SpillDisk("test", this.store, SpillFormat.PLAIN,
						new SpillExecutor(this.pool, this.pool::isShutdown), new SpillCounters(), Verification.ALWAYS),
				SpillPolicy.DEFAULT, new SpillCounters(), InstantSource.system(), new SpillOwner() {

					@Override
					public void busyChanged(boolean busy) {
					}

					@Override
					public void gone(SpillCore spill) {
						SpillStateTests.this.gone = true;
					}

					@Override
					public CompletionStage<?> makeRoom(SpillCore spill, long wanted) {
						return null;
					}

				});
		this.lease = new SpillLease(this.core, new SpillExecutor(this.pool, this.pool::isShutdown), null);
		EngineExtension.await(write(this.batches.of(1)));
		switch (to) {
			case IN_MEMORY -> {
			}
			case SWITCHING -> {
				CountDownLatch creating = new CountDownLatch(1);
				this.store.before = (call) -> {
					if (call.equals("create")) {
						creating.countDown();
						hold();
					}
				};
				this.pending.add(write(this.batches.rows(1000, 2)));
				creating.await();
			}
			case ON_DISK -> EngineExtension.await(write(this.batches.rows(1000, 2)));
			case FINISHED -> EngineExtension.await(this.core.finish());
			case FAILED -> this.core.sendError(SOURCE_FAILURE);
			case CLOSED -> this.core.close("it was closed", false);
		}
	}

	private void hold() {
		try {
			this.gate.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private CompletionStage<Void> write(RecordBatch batch) {
		try (batch) {
			return this.core.write(batch);
		}
	}

	private String fire(Event event) throws Exception {
		switch (event) {
			case WRITE -> {
				return outcome(write(this.batches.of(3)));
			}
			case FINISH -> {
				return outcome(this.core.finish());
			}
			case READ -> {
				return read();
			}
			case SEND_ERROR -> this.core.sendError(SOURCE_FAILURE);
			case ABANDON -> this.core.abandon("its sender was closed", null);
			case CLOSE -> this.core.close("it was closed", false);
		}
		return "ok";
	}

	private String read() throws Exception {
		try (RecordBatchStream stream = RecordBatchStream.from(Batches.SCHEMA, Map.of(),
				new SpillReader(this.core, this.lease))) {
			return outcome(stream.next());
		}
	}

	private String outcome(CompletionStage<?> stage) throws Exception {
		try {
			Object value = EngineExtension.await(stage);
			if (value instanceof Optional<?> optional && optional.orElse(null) instanceof RecordBatch batch) {
				batch.close();
				return "batch";
			}
			return "ok";
		}
		catch (ExecutionException ex) {
			return ex.getCause().getClass().getSimpleName();
		}
	}

}
