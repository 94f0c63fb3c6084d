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

package org.lance.spring.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.lance.spring.stream.BackgroundExecutor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Gives a test an allocator and executors, and fails it if any Arrow memory or thread is
 * left afterwards. Register as a field:
 * {@code @RegisterExtension final EngineExtension engine = new EngineExtension();}
 */
public final class EngineExtension implements BeforeEachCallback, AfterEachCallback {

	private static final Duration PATIENCE = Duration.ofSeconds(5);

	private final List<ExecutorService> executors = new ArrayList<>();

	private final List<AutoCloseable> resources = new ArrayList<>();

	private BufferAllocator allocator;

	@Override
	public void beforeEach(ExtensionContext context) {
		this.allocator = new RootAllocator(Long.MAX_VALUE);
	}

	@Override
	public void afterEach(ExtensionContext context) throws Exception {
		for (int i = this.resources.size() - 1; i >= 0; i--) {
			this.resources.get(i).close();
		}
		this.resources.clear();
		for (ExecutorService executor : this.executors) {
			executor.shutdown();
			assertThat(executor.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS))
				.as("executor has come to rest")
				.isTrue();
		}
		this.executors.clear();
		if (context.getExecutionException().isEmpty()) {
			Awaitility.await("Arrow memory given back")
				.pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofMillis(2))
				.atMost(PATIENCE)
				.untilAsserted(() -> assertThat(this.allocator.getAllocatedMemory()).isZero());
			this.allocator.close();
		}
	}

	/**
	 * Returns the engine's allocator, a root, new for each test.
	 */
	public BufferAllocator allocator() {
		return this.allocator;
	}

	/**
	 * Returns a new pool of that many threads.
	 */
	public ExecutorService pool(int threads) {
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		this.executors.add(executor);
		return executor;
	}

	/**
	 * Returns a background executor on a new pool, with slots for 1,000 streams.
	 */
	public BackgroundExecutor background(int threads) {
		return new BackgroundExecutor(pool(threads), 1000);
	}

	/**
	 * Closes something at the end of the test, last one first, before the executors.
	 */
	public <C extends AutoCloseable> C closeLater(C resource) {
		this.resources.add(resource);
		return resource;
	}

	/**
	 * Waits for a stage on the test's thread; more than 5 seconds are a hang.
	 */
	public static <T> T await(CompletionStage<T> stage) throws Exception {
		return stage.toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
	}

}
