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

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of {@link LanceTemplate} with many writes at once.
 */
class LanceConcurrencyTests extends AbstractLanceTests {

	@ParameterizedTest
	@ValueSource(ints = { 1, 8 })
	void whenManyAppendAtOnceThenAllAreCommitted(int threads) throws Exception {
		LanceTemplate many = template(threads);
		write(source(0, 0), LanceWriteMode.CREATE);
		List<CompletionStage<LanceWriteResult>> writers = new ArrayList<>();
		for (int writer = 0; writer < 8; writer++) {
			writers.add(appends(many, writer * 5, 5));
		}
		for (CompletionStage<LanceWriteResult> writer : writers) {
			await(writer);
		}
		assertThat(ids()).isEqualTo(range(0, 400));
		assertThat(await(this.template.describe(this.uri)).version()).isEqualTo(41);
		assertThat(many.openWrites()).isZero();
	}

	private CompletionStage<LanceWriteResult> appends(LanceTemplate many, int number, int count) {
		CompletionStage<LanceWriteResult> one = many.write(this.uri, source(2, (i) -> batch(number * 10 + i * 5, 5)),
				LanceWriteMode.APPEND);
		return (count == 1) ? one : one.thenCompose((result) -> appends(many, number + 1, count - 1));
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 8 })
	void whenManyCreateAtOnceThenOneDoesAndTheOthersFindIt(int threads) throws Exception {
		LanceTemplate many = template(threads);
		List<CompletionStage<Object>> creates = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			int number = i;
			creates.add(many.write(this.uri, source(1, (j) -> batch(number, 1)), LanceWriteMode.CREATE)
				.handle((result, failure) -> (failure != null) ? cause(failure) : result));
		}
		List<Object> results = new ArrayList<>();
		for (CompletionStage<Object> create : creates) {
			results.add(await(create));
		}
		assertThat(results).filteredOn(LanceWriteResult.class::isInstance).hasSize(1);
		assertThat(results).filteredOn(LanceDatasetExistsException.class::isInstance).hasSize(7);
		assertThat(await(this.template.describe(this.uri))).isEqualTo(new LanceTable(1, 1, SCHEMA));
	}

	@Test
	void whenWaitingCreateIsCancelledThenTheNextStillWaitsForTheFirst() throws Exception {
		CompletableFuture<Void> gate = new CompletableFuture<>();
		CompletionStage<LanceWriteResult> first = this.template.write(this.uri,
				source(1, (i) -> gate.thenApply((nothing) -> batch(0, 1)).join()), LanceWriteMode.CREATE);
		CompletionStage<LanceWriteResult> second = this.template.write(this.uri, source(1, 1), LanceWriteMode.CREATE);
		CompletionStage<LanceWriteResult> third = this.template.write(this.uri, source(1, 1), LanceWriteMode.CREATE);
		second.toCompletableFuture().cancel(true);
		gate.complete(null);
		await(first);
		assertThat(failure(third)).isInstanceOf(LanceDatasetExistsException.class);
	}

	@Test
	void whenManyOverwriteAtOnceThenLosersAreToldToRetry() throws Exception {
		LanceTemplate many = template(8);
		write(source(1, 1), LanceWriteMode.CREATE);
		List<CompletionStage<Object>> writes = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			int number = i;
			writes.add(many.write(this.uri, source(1, (j) -> batch(number, 1)), LanceWriteMode.OVERWRITE)
				.handle((result, failure) -> (failure != null) ? cause(failure) : result));
		}
		int committed = 0;
		for (CompletionStage<Object> write : writes) {
			Object result = await(write);
			if (result instanceof LanceWriteResult) {
				committed++;
			}
			else {
				assertThat(result).isInstanceOfSatisfying(LanceConflictException.class, (ex) -> {
					assertThat(ex.isRetryable()).isTrue();
					assertThat(ex.getUri()).isEqualTo(this.uri);
				});
			}
		}
		LanceTable table = await(this.template.describe(this.uri));
		assertThat(table.rows()).isEqualTo(1);
		assertThat(table.version()).isEqualTo(1 + committed);
	}

	@Test
	void whenTableIsOverwrittenDuringAppendThenAppendConflicts() throws Exception {
		write(source(1, 1), LanceWriteMode.CREATE);
		CompletableFuture<Void> reached = new CompletableFuture<>();
		CompletableFuture<Void> gate = new CompletableFuture<>();
		CompletionStage<LanceWriteResult> append = this.template.write(this.uri,
				TestSource.of(SCHEMA, java.util.stream.IntStream.range(0, 2).mapToObj((i) -> {
					if (i == 1) {
						reached.complete(null);
						gate.join();
					}
					return batch(i, 1);
				}).iterator(), this.engine.background(1)), LanceWriteMode.APPEND);
		await(reached);
		write(source(1, 2), LanceWriteMode.OVERWRITE);
		gate.complete(null);
		assertThat(failure(append)).isInstanceOf(LanceConflictException.class);
		assertThat(ids()).isEqualTo(range(0, 2));
	}

	@Test
	void whenDrainedThenCallersHaveHeardOfTheEndBefore() throws Exception {
		List<CompletableFuture<LanceWriteResult>> writes = new ArrayList<>();
		List<Boolean> heard = new ArrayList<>();
		write(source(0, 0), LanceWriteMode.CREATE);
		for (int i = 0; i < 20; i++) {
			writes.add(this.template.write(this.uri, source(1, 1), LanceWriteMode.APPEND).toCompletableFuture());
		}
		await(this.template.drain(java.time.Duration.ofMinutes(1))
			.thenRun(() -> writes.forEach((write) -> heard.add(write.isDone()))));
		assertThat(heard).hasSize(20).containsOnly(true);
	}

	@Test
	void whenSourceScansAnotherTableThenOneBackgroundThreadIsEnough() throws Exception {
		write(source(5, 100), LanceWriteMode.CREATE);
		String copy = this.directory.resolve("copy").toString();
		LanceWriteResult result = await(this.template.scan(this.uri, LanceScan.all().batchSize(50))
			.thenCompose((stream) -> this.template.write(copy,
					new TestSource(stream.schema(), stream.dictionaryFields(), () -> stream), LanceWriteMode.CREATE)));
		assertThat(result.rows()).isEqualTo(500);
		assertThat(await(this.template.countRows(copy))).isEqualTo(500);
		Awaitility.await().until(() -> this.background.openStreams() == 0);
	}

	@Test
	void whenProducerIsFastThenFewBatchesAreInMemory() throws Exception {
		long[] peak = { 0 };
		LanceWriteResult result = write(source(100, (i) -> {
			peak[0] = Math.max(peak[0], this.engine.allocator().getAllocatedMemory());
			return batch(i * 10_000, 10_000);
		}), LanceWriteMode.CREATE);
		long each = result.bytes() / result.batches();
		assertThat(peak[0]).isLessThan(8 * each);
	}

	private LanceTemplate template(int threads) {
		return this.engine.closeLater(new LanceTemplate(this.engine.allocator(), this.background, threads));
	}

	private static Throwable cause(Throwable failure) {
		return (failure instanceof CompletionException) ? failure.getCause() : failure;
	}

}
