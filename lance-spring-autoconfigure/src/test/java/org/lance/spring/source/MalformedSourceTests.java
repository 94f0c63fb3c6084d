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

package org.lance.spring.source;

import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;

import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.stream.ArrowDataException;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.GoldenFiles;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever bytes come in, a source ends normally or by one exception of the family,
 * within a memory limit and with nothing left.
 */
class MalformedSourceTests {

	private static final long LIMIT = 64 << 20;

	/**
	 * Mutants of each input; fewer where Arrow's debug allocator slows all down. More by
	 * {@code -Dfuzz.mutants}.
	 */
	private static final int MUTANTS = Integer.getInteger("fuzz.mutants",
			Boolean.getBoolean("arrow.memory.debug.allocator") ? 40 : 1000);

	private static final int LARGE = 8_000;

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	static List<Path> malformed() {
		return GoldenFiles.malformed();
	}

	static Stream<Path> golden() {
		return GoldenFiles.inputs().stream();
	}

	@ParameterizedTest
	@MethodSource("malformed")
	void whenMalformedDataArePulledThenTheyEndOrFailTyped(Path input) throws Exception {
		byte[] bytes = Files.readAllBytes(input);
		try (BufferAllocator limited = limited()) {
			consume(factory(limited).fromIpc(input));
			consume(factory(limited).fromIpc(new ByteArrayInputStream(bytes)));
		}
	}

	@ParameterizedTest
	@MethodSource("malformed")
	void whenMalformedDataAreFedThenTheyEndOrFailTyped(Path input) throws Exception {
		byte[] bytes = Files.readAllBytes(input);
		try (BufferAllocator limited = limited()) {
			for (int chunk : new int[] { 1, 7, 64 * 1024 }) {
				try (IpcFeed feed = factory(limited).ipcFeed()) {
					CompletionStage<Void> fed = GoldenSourceTests.feed(feed, bytes, chunk);
					boolean failed = consume(feed.source());
					fed.toCompletableFuture().handle((done, failure) -> {
						assertThat(failure != null).as("feeder is told, too").isEqualTo(failed);
						return null;
					}).get();
				}
			}
		}
	}

	/**
	 * Deterministic: a table has the same mutants in each run.
	 */
	@ParameterizedTest
	@MethodSource("golden")
	void whenGoldenDataAreMutatedThenTheyEndOrFailTyped(Path input) throws Exception {
		byte[] golden = Files.readAllBytes(input);
		Random random = new Random(GoldenFiles.name(input).hashCode());
		try (BufferAllocator limited = limited()) {
			int mutants = 1 + (int) ((long) MUTANTS * LARGE / Math.max(LARGE, golden.length));
			for (int i = 0; i < mutants; i++) {
				byte[] mutant = mutate(golden, random);
				try {
					IpcDecoderTests.decode(mutant, mutant.length + 1, limited);
				}
				catch (Throwable ex) {
					throw new AssertionError("mutant %d of %s".formatted(i, input), ex);
				}
				assertThat(limited.getAllocatedMemory()).as("after mutant %d of %s", i, input).isZero();
			}
		}
	}

	private static byte[] mutate(byte[] golden, Random random) {
		// Most of a large table is data; its metadata come first and are more
		// interesting.
		int range = random.nextBoolean() ? golden.length : Math.min(golden.length, 2000);
		byte[] mutant = golden.clone();
		int flips = 1 + random.nextInt(4);
		for (int i = 0; i < flips; i++) {
			int position = random.nextInt(range);
			switch (random.nextInt(4)) {
				case 0 -> mutant[position] ^= (byte) (1 << random.nextInt(8));
				case 1 -> mutant[position] = (byte) random.nextInt();
				case 2 -> mutant[position] = (byte) (random.nextBoolean() ? 0xff : 0x7f);
				default -> mutant[position] = 0;
			}
		}
		return (random.nextInt(10) == 0) ? java.util.Arrays.copyOf(mutant, random.nextInt(mutant.length)) : mutant;
	}

	private BufferAllocator limited() {
		return this.engine.allocator().newChildAllocator("limited", 0, LIMIT);
	}

	private StreamingWriteSourceFactory factory(BufferAllocator allocator) {
		return new StreamingWriteSourceFactory(allocator, this.engine.background(1), 1);
	}

	/**
	 * Reads everything.
	 * @return whether it failed, by an exception of the family
	 */
	private static boolean consume(CompletionStage<StreamingWriteSource> source) throws Exception {
		try {
			List<RecordBatch> batches = EngineExtension.await(EngineExtension.await(source).intoStream().collect());
			batches.forEach(RecordBatch::close);
			return false;
		}
		catch (ExecutionException ex) {
			assertThat(ex.getCause()).isInstanceOf(ArrowDataException.class).hasMessageMatching("(?s).{20,}");
			return true;
		}
	}

}
