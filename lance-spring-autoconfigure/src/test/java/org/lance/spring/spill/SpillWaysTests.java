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

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.source.ReopenableSource;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Ways to use a spill, and what happens to one that is forgotten.
 */
@ExtendWith(OutputCaptureExtension.class)
class SpillWaysTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private final FakeStore store = new FakeStore();

	private SpillHarness harness() {
		return new SpillHarness(this.engine, this.store, 1);
	}

	/**
	 * A source of one spill for another.
	 */
	private StreamingWriteSource source(SpillHarness harness, long... values) throws Exception {
		ReplaySpill origin = harness.spill(Place.MEMORY);
		SpillSender sender = origin.sender();
		for (long value : values) {
			harness.write(sender, value);
		}
		EngineExtension.await(sender.finish());
		return origin.receiver().source();
	}

	private static void awaitGone(SpillHarness harness, String name) {
		Awaitility.await()
			.until(() -> harness.manager.spills().stream().noneMatch((spill) -> spill.name().equals(name)));
	}

	@ParameterizedTest
	@EnumSource(Place.class)
	void materializedSpillIsCompleteWhenItIsGiven(Place place) throws Exception {
		SpillHarness harness = harness();
		try (SpillReceiver receiver = EngineExtension
			.await(harness.manager.materialize(source(harness, 1, 2, 3), place.options()))) {
			assertThat(receiver.snapshot().state()).isEqualTo(State.FINISHED);
			assertThat(receiver.snapshot().batches()).isEqualTo(3);
			assertThat(harness.read(receiver)).containsExactly(1L, 2L, 3L);
			assertThat(harness.read(receiver)).containsExactly(1L, 2L, 3L);
		}
	}

	@Test
	void whenTheSourceOfAMaterializedSpillFailsThenItIsClosed() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill origin = harness.spill(Place.MEMORY);
		SpillSender sender = origin.sender();
		harness.write(sender, 1);
		CompletionStage<SpillReceiver> stage = harness.manager.materialize(origin.receiver().source());
		assertThat(stage.toCompletableFuture()).isNotDone();
		IOException boom = new IOException("boom");
		sender.sendError(boom);
		assertThat(SpillHarness.failure(stage)).isInstanceOf(SpillSourceFailedException.class).hasRootCause(boom);
		Awaitility.await().until(() -> harness.manager.statistics().active() == 0);
	}

	@Test
	void spillIsASourceThatCanBeOpenedAgain() throws Exception {
		SpillHarness harness = harness();
		try (ReopenableSource source = harness.manager.reopenable(source(harness, 1, 2), Place.DISK.options())) {
			assertThat(source.arrowSchema()).isEqualTo(Batches.SCHEMA);
			for (int i = 0; i < 3; i++) {
				StreamingWriteSource opened = EngineExtension.await(source.open());
				assertThat(harness.batches.take(EngineExtension.await(opened.intoStream().collect())))
					.containsExactly(1L, 2L);
			}
		}
		Awaitility.await().until(() -> this.store.files.stream().allMatch((file) -> file.deleted));
	}

	@Test
	void eachAttemptReadsFromTheFirstBatchOn() throws Exception {
		SpillHarness harness = harness();
		List<List<Long>> read = new ArrayList<>();
		CompletionStage<String> written = ReplayRetry.upTo(3)
			.pausing(Duration.ofMillis(1))
			.write(harness.manager, source(harness, 1, 2), (source,
					number) -> source.intoStream().collect().thenApply(harness.batches::take).thenApply((values) -> {
						read.add(values);
						if (number < 3) {
							throw new IllegalStateException("conflict " + number);
						}
						return "version " + number;
					}));
		assertThat(EngineExtension.await(written)).isEqualTo("version 3");
		assertThat(read).containsExactly(List.of(1L, 2L), List.of(1L, 2L), List.of(1L, 2L));
		awaitGone(harness, "spill-2");
	}

	@Test
	void whenAllAttemptsFailThenTheLastFailureTellsOfTheOthers() throws Exception {
		SpillHarness harness = harness();
		CompletionStage<String> written = ReplayRetry.upTo(2)
			.write(harness.manager, source(harness, 1), (source, number) -> {
				throw new IOException("conflict " + number);
			});
		Throwable failure = SpillHarness.failure(written);
		assertThat(failure).hasMessage("conflict 2");
		assertThat(failure.getSuppressed()).singleElement()
			.satisfies((first) -> assertThat(first).hasMessage("conflict 1"));
		awaitGone(harness, "spill-2");
	}

	@Test
	void whenAFailureIsNotRetryableThenThereIsNoOtherAttempt() throws Exception {
		SpillHarness harness = harness();
		AtomicInteger attempts = new AtomicInteger();
		CompletionStage<String> written = ReplayRetry.upTo(5)
			.when((failure) -> failure instanceof IOException)
			.write(harness.manager, source(harness, 1), (source, number) -> {
				attempts.incrementAndGet();
				return CompletableFuture.failedFuture(new IllegalStateException("no"));
			});
		assertThat(SpillHarness.failure(written)).hasMessage("no");
		assertThat(attempts).hasValue(1);
	}

	@Test
	void whenTheSourceFailsThenThereIsNoOtherAttempt() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill origin = harness.spill(Place.MEMORY);
		SpillSender sender = origin.sender();
		harness.write(sender, 1);
		AtomicInteger attempts = new AtomicInteger();
		CompletionStage<String> written = ReplayRetry.upTo(5)
			.write(harness.manager, origin.receiver().source(), (source, number) -> {
				attempts.incrementAndGet();
				return source.intoStream().collect().thenApply(harness.batches::take).thenApply(Object::toString);
			});
		IOException boom = new IOException("boom");
		sender.sendError(boom);
		assertThat(SpillHarness.failure(written)).hasRootCause(boom);
		assertThat(attempts).hasValue(1);
	}

	@Test
	void sourceThatCanBeOpenedAgainIsNotSpilled() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill origin = harness.spill(Place.MEMORY);
		SpillSender sender = origin.sender();
		harness.write(sender, 7);
		EngineExtension.await(sender.finish());
		AtomicInteger opened = new AtomicInteger();
		ReopenableSource source = ReopenableSource.of(Batches.SCHEMA, () -> {
			opened.incrementAndGet();
			return CompletableFuture.completedFuture(origin.receiver().source());
		});
		CompletionStage<List<Long>> written = ReplayRetry.upTo(2).write(source, (attempt, number) -> {
			if (number == 1) {
				throw new IllegalStateException("conflict");
			}
			return attempt.intoStream().collect().thenApply(harness.batches::take);
		});
		assertThat(EngineExtension.await(written)).containsExactly(7L);
		assertThat(opened).hasValue(2);
		assertThat(harness.manager.statistics().created()).as("spills").isOne();
		assertThat(origin.snapshot().readers()).isZero();
	}

	@Test
	void whenTheSourceCannotBeOpenedThenThatIsAFailureOfTheAttempt() throws Exception {
		ReopenableSource source = ReopenableSource.of(Batches.SCHEMA, () -> {
			throw new IllegalStateException("gone");
		});
		assertThat(SpillHarness.failure(ReplayRetry.upTo(2).write(source, (attempt, number) -> null)))
			.hasMessage("gone");
	}

	@Test
	void whenTheSourceCannotBeOpenedThenThereIsNoOtherAttempt() throws Exception {
		AtomicInteger opened = new AtomicInteger();
		ReopenableSource source = ReopenableSource.of(Batches.SCHEMA, () -> {
			opened.incrementAndGet();
			return CompletableFuture.failedFuture(new IOException("cut"));
		});
		assertThat(SpillHarness.failure(ReplayRetry.upTo(3).write(source, (attempt, number) -> null)))
			.hasMessage("cut");
		assertThat(opened).hasValue(1);
	}

	@Test
	void whenAnAttemptIsCancelledThenThereIsNoOther() throws Exception {
		SpillHarness harness = harness();
		AtomicInteger attempts = new AtomicInteger();
		CompletableFuture<String> own = new CompletableFuture<>();
		CompletableFuture<String> written = ReplayRetry.upTo(3)
			.<String>write(harness.manager, source(harness, 1), (source, number) -> {
				attempts.incrementAndGet();
				return own;
			})
			.toCompletableFuture();
		written.cancel(false);
		assertThat(own).isCancelled();
		awaitGone(harness, "spill-2");
		assertThat(attempts).hasValue(1);
	}

	@Test
	void whenCancelledInThePauseThenThereIsNoOtherAttempt() throws Exception {
		SpillHarness harness = harness();
		AtomicInteger attempts = new AtomicInteger();
		CompletableFuture<String> written = ReplayRetry.upTo(3)
			.pausing(Duration.ofSeconds(1))
			.<String>write(harness.manager, source(harness, 1), (source, number) -> {
				attempts.incrementAndGet();
				throw new IOException("conflict");
			})
			.toCompletableFuture();
		Awaitility.await().until(() -> attempts.get() > 0);
		written.cancel(false);
		EngineExtension.await(CompletableFuture.runAsync(() -> {
		}, CompletableFuture.delayedExecutor(1500, java.util.concurrent.TimeUnit.MILLISECONDS)));
		assertThat(attempts).hasValue(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "null", "error", "predicate" })
	void whatAttemptsDoWrongIsAFailureToo(String what) throws Exception {
		SpillHarness harness = harness();
		CompletionStage<String> written = ReplayRetry.upTo(2).when((failure) -> {
			if (what.equals("predicate")) {
				throw new AssertionError("predicate");
			}
			return true;
		}).write(harness.manager, source(harness, 1), (source, number) -> {
			if (what.equals("null")) {
				return null;
			}
			throw new StackOverflowError("attempt");
		});
		assertThat(SpillHarness.failure(written))
			.isInstanceOf(what.equals("null") ? NullPointerException.class : StackOverflowError.class);
		awaitGone(harness, "spill-2");
	}

	@Test
	void manyAttemptsDoNotGrowTheStack() throws Exception {
		SpillHarness harness = harness();
		AtomicInteger attempts = new AtomicInteger();
		CompletionStage<String> written = ReplayRetry.upTo(2_000)
			.write(harness.manager, source(harness, 1), (source, number) -> {
				attempts.incrementAndGet();
				return CompletableFuture.failedFuture(new AlwaysTheSame());
			});
		assertThat(SpillHarness.failure(written)).isInstanceOf(AlwaysTheSame.class);
		assertThat(attempts).hasValue(2_000);
	}

	@Test
	void retryThatMakesNoSenseIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> ReplayRetry.upTo(0)).withMessageContaining("attempts");
		assertThatIllegalArgumentException().isThrownBy(() -> ReplayRetry.upTo(1).pausing(Duration.ofMillis(-1)))
			.withMessageContaining("pause");
	}

	@Test
	void whenTheManagerIsClosedThenNothingCanBeSpilledAndTheSourceIsClosed() throws Exception {
		SpillHarness harness = harness();
		StreamingWriteSource source = source(harness, 1);
		harness.manager.drain(Duration.ZERO);
		assertThatExceptionOfType(SpillClosedException.class).isThrownBy(() -> harness.manager.materialize(source));
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(source::intoStream);
	}

	@Test
	void readerThatIsForgottenDoesNotHoldUpADrain(CapturedOutput output) throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, this.engine.pool(1), 1 << 20,
				UnusableDirectory.FAIL, true);
		ReplaySpill spill = harness.spill(Place.MEMORY);
		SpillSender sender = spill.sender();
		harness.write(sender, 1);
		harness.write(sender, 2);
		EngineExtension.await(sender.finish());
		forgetReader(harness, spill);
		assertThat(spill.snapshot().readers()).isOne();
		Awaitility.await().until(() -> {
			System.gc();
			return spill.snapshot().readers() == 0;
		});
		assertThat(output).contains("A reader of spill '" + spill.name() + "'")
			.contains("It was created here")
			.contains("SpillWaysTests.forgetReader");
		EngineExtension.await(harness.manager.drain(Duration.ofMinutes(1)));
		assertThat(harness.read(spill.receiver())).containsExactly(1L, 2L);
	}

	private void forgetReader(SpillHarness harness, ReplaySpill spill) throws Exception {
		harness.next(spill.receiver().read());
	}

	@Test
	void readerThatWaitsIsNotForgotten() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(Place.MEMORY);
		SpillSender sender = spill.sender();
		CompletionStage<?> next = spill.receiver()
			.read()
			.next()
			.thenAccept((item) -> item.ifPresent(RecordBatch::close));
		for (int i = 0; i < 3; i++) {
			System.gc();
			EngineExtension.await(CompletableFuture.runAsync(() -> {
			}, harness.pool));
		}
		assertThat(spill.snapshot().readers()).isOne();
		harness.write(sender, 1);
		EngineExtension.await(next);
	}

	@Test
	void spillThatIsForgottenIsToldWithThePlaceWhereItWasCreated(CapturedOutput output) throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, this.store, this.engine.pool(1), 1 << 20,
				UnusableDirectory.FAIL, true);
		AtomicReference<RecordBatchStream> reader = new AtomicReference<>();
		forgetSpill(harness);
		forgetSender(harness, reader);
		Awaitility.await().until(() -> {
			System.gc();
			return output.getOut().contains("was never closed");
		});
		assertThat(output).contains("SpillWaysTests.forgetSpill");
		assertThat(SpillHarness.failure(reader.get().collect())).isInstanceOf(SpillAbandonedException.class)
			.hasCauseInstanceOf(CreationTrace.class)
			.cause()
			.hasStackTraceContaining("SpillWaysTests.forgetSender");
		reader.get().close();
	}

	private void forgetSpill(SpillHarness harness) throws Exception {
		ReplaySpill spill = harness.spill(Place.MEMORY);
		SpillSender sender = spill.sender();
		harness.write(sender, 1);
		EngineExtension.await(sender.finish());
	}

	private void forgetSender(SpillHarness harness, AtomicReference<RecordBatchStream> reader) throws Exception {
		ReplaySpill spill = harness.spill(Place.MEMORY);
		harness.write(spill.sender(), 1);
		reader.set(spill.receiver().read());
	}

	@Test
	void statisticsTellOfTimeAndCounts() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill memory = harness.spill(Place.MEMORY);
		harness.write(memory.sender(), 1);
		ReplaySpill disk = harness.spill(Place.DISK);
		SpillSender sender = disk.sender();
		harness.write(sender, 1);
		harness.write(sender, 2);
		EngineExtension.await(sender.finish());
		harness.read(disk.receiver());
		SpillStatistics statistics = harness.manager.statistics();
		assertThat(statistics.created()).isEqualTo(2);
		assertThat(statistics.spilled()).isOne();
		assertThat(statistics.writes()).isEqualTo(2);
		assertThat(statistics.reads()).isEqualTo(2);
		assertThat(statistics.writeTime()).isPositive();
		assertThat(statistics.readTime()).isPositive();
	}

	@Test
	void damageThatManyReadersSeeIsOneFailure() throws Exception {
		SpillHarness harness = harness();
		ReplaySpill spill = harness.spill(Place.DISK);
		SpillSender sender = spill.sender();
		harness.write(sender, 1);
		EngineExtension.await(sender.finish());
		this.store.before = (call) -> {
			if (call.startsWith("read")) {
				throw new SpillCorruptedException("spill", "damaged", null);
			}
		};
		for (int i = 0; i < 3; i++) {
			assertThat(SpillHarness.failure(spill.receiver().read().next()))
				.isInstanceOf(SpillCorruptedException.class);
		}
		assertThat(harness.manager.statistics().failures()).containsEntry("corrupted", 1L);
	}

	/**
	 * Keeps no other failures, of which there would be many.
	 */
	private static final class AlwaysTheSame extends Exception {

		private static final long serialVersionUID = 1L;

		AlwaysTheSame() {
			super("conflict", null, false, false);
		}

	}

}
