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

import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.apache.arrow.memory.RootAllocator;
import org.lance.spring.stream.BackgroundExecutor;

/**
 * Calls a template. Runs in a JVM of its own, because a library is loaded or not for
 * good.
 */
public final class LibraryProbe {

	private LibraryProbe() {
	}

	public static void main(String[] args) throws Exception {
		ExecutorService pool = Executors.newSingleThreadExecutor();
		try (RootAllocator allocator = new RootAllocator();
				LanceTemplate template = new LanceTemplate(allocator, new BackgroundExecutor(pool, 10), 1)) {
			print("first", template.exists(args[0]));
			print("second", template.exists(args[0]));
			print("write", template.write(args[0], new TestSource(AbstractLanceTests.SCHEMA, Map.of(), () -> {
				throw new AssertionError("read");
			}), LanceWriteMode.CREATE));
		}
		pool.shutdown();
	}

	private static void print(String name, CompletionStage<?> stage) throws Exception {
		Object result = stage.<Object>handle((value, failure) -> (failure != null) ? failure : value)
			.toCompletableFuture()
			.get(60, TimeUnit.SECONDS);
		Throwable failure = (result instanceof CompletionException wrapper) ? wrapper.getCause() : (Throwable) result;
		System.out.println(name + ": " + failure.getClass().getSimpleName() + " " + failure.getMessage());
	}

}
