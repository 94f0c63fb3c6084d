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

package org.lance.spring.stream;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A future that refuses to be waited for on a thread of the engine: with a pool of one
 * thread that wait would never end.
 * <p>
 * Public for the other packages of this library only; may change in any release.
 *
 * @param <T> the type of the result
 * @since 0.1.0
 */
public class EngineFuture<T> extends CompletableFuture<T> {

	static <T> EngineFuture<T> completed(T value) {
		EngineFuture<T> future = new EngineFuture<>();
		future.complete(value);
		return future;
	}

	static <T> EngineFuture<T> failed(Throwable failure) {
		EngineFuture<T> future = new EngineFuture<>();
		future.completeExceptionally(failure);
		return future;
	}

	@Override
	public <U> CompletableFuture<U> newIncompleteFuture() {
		return new EngineFuture<>();
	}

	@Override
	public T get() throws InterruptedException, ExecutionException {
		checkMayBlock();
		return super.get();
	}

	@Override
	public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
		checkMayBlock();
		return super.get(timeout, unit);
	}

	@Override
	public T join() {
		checkMayBlock();
		return super.join();
	}

	private void checkMayBlock() {
		if (!isDone()) {
			EngineThreads.checkMayBlock();
		}
	}

}
