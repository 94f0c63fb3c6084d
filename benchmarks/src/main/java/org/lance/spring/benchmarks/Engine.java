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

package org.lance.spring.benchmarks;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.arrow.memory.BufferAllocator;
import org.lance.spring.spill.ReplaySpill;
import org.lance.spring.spill.SpillManager;
import org.lance.spring.spill.SpillSender;
import org.lance.spring.stream.AsyncLoop;

/**
 * The spill engine with the defaults of the starter.
 */
final class Engine implements AutoCloseable {

	/**
	 * The default of {@code lance.spill.threads}.
	 */
	private static final int THREADS = 4;

	private final ExecutorService executor = Executors.newFixedThreadPool(THREADS);

	private final SpillManager manager;

	Engine(BufferAllocator allocator, Path directory) {
		this.manager = SpillManager.builder(allocator, this.executor).directories(List.of(directory)).build();
	}

	SpillManager manager() {
		return this.manager;
	}

	/**
	 * Writes all batches and the end, each one when the one before was written, as a
	 * pipeline does it: no thread waits in between.
	 */
	static void write(ReplaySpill spill, Batches batches) {
		SpillSender sender = spill.sender();
		AtomicInteger next = new AtomicInteger();
		await(AsyncLoop.repeat(() -> {
			int batch = next.getAndIncrement();
			return (batch < batches.size()) ? sender.write(batches.get(batch)).thenApply((written) -> true)
					: CompletableFuture.completedFuture(false);
		}));
		await(sender.finish());
	}

	static void close(ReplaySpill spill) {
		spill.close();
		await(spill.closed());
	}

	static <T> T await(CompletionStage<T> stage) {
		return stage.toCompletableFuture().join();
	}

	@Override
	public void close() {
		this.manager.close();
		await(this.manager.closed());
		this.executor.shutdown();
	}

}
