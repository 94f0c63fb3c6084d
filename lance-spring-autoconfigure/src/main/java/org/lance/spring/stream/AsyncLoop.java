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

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Loops over asynchronous steps without growing the stack: a step that is ready at once
 * is a turn of a loop, not a call inside a call.
 * <p>
 * <b>Threads.</b> One turn at a time: on the caller's thread as long as turns are ready
 * at once, then on the thread that completed the last one. So turns must not block.
 * <p>
 * Public for the other packages of this library only; may change in any release.
 *
 * @since 0.1.0
 */
public final class AsyncLoop {

	private AsyncLoop() {
	}

	/**
	 * Repeats {@code step} until it answers {@code false} or fails.
	 * @param step one turn; answers whether to go on
	 * @return the stage that ends after the last turn
	 */
	public static CompletionStage<Void> repeat(Step step) {
		Turns turns = new Turns(step);
		turns.run();
		return turns.done;
	}

	static <T> CompletionStage<Void> forEach(AsyncIterator<T> iterator, Consumer<? super T> action) {
		return drain(iterator, (item) -> {
			action.accept(item);
			return null;
		});
	}

	/**
	 * Hands every item to an asynchronous action, one after the other, then closes the
	 * iterator.
	 * @param <T> the type of the items
	 * @param iterator the iterator, closed at the end, also after a failure
	 * @param action takes and owns an item; the next one is asked for when its stage
	 * ended; {@code null} stands for a stage that ended already
	 * @return the stage that ends after the last item and after the iterator was closed
	 */
	public static <T> CompletionStage<Void> drain(AsyncIterator<T> iterator,
			Function<? super T, @Nullable CompletionStage<Void>> action) {
		CompletionStage<Void> turns = repeat(() -> iterator.next().thenCompose((item) -> {
			if (item.isEmpty()) {
				return CompletableFuture.completedFuture(false);
			}
			CompletionStage<Void> acted = action.apply(item.get());
			if (acted == null) {
				return CompletableFuture.completedFuture(true);
			}
			return acted.thenApply((done) -> true);
		}));
		CompletableFuture<Void> result = new EngineFuture<>();
		turns.whenComplete((done, failure) -> close(iterator, Failures.unwrap(failure), result));
		// A caller that gives up (cancels, times out) wants no more items.
		result.whenComplete((done, failure) -> iterator.close());
		return result;
	}

	private static void close(AsyncIterator<?> iterator, @Nullable Throwable failure, CompletableFuture<Void> result) {
		try {
			iterator.close();
			iterator.closed()
				.whenComplete((closed, closeFailure) -> end(result, failure, Failures.unwrap(closeFailure)));
		}
		catch (Throwable ex) {
			end(result, failure, ex);
		}
	}

	private static void end(CompletableFuture<Void> result, @Nullable Throwable failure,
			@Nullable Throwable closeFailure) {
		if (failure != null && closeFailure != null && failure != closeFailure
				&& !List.of(failure.getSuppressed()).contains(closeFailure)) {
			failure.addSuppressed(closeFailure);
		}
		if (failure != null) {
			result.completeExceptionally(failure);
		}
		else if (closeFailure != null) {
			result.completeExceptionally(closeFailure);
		}
		else {
			result.complete(null);
		}
	}

	static <T> CompletionStage<List<T>> collect(AsyncIterator<T> iterator) {
		List<T> items = new ArrayList<>();
		CompletableFuture<List<T>> result = new EngineFuture<>();
		CompletableFuture<Void> loop = forEach(iterator, items::add).toCompletableFuture();
		loop.whenComplete((done, failure) -> {
			if (failure == null && result.complete(items)) {
				return;
			}
			items.forEach(Items::discard);
			if (failure != null) {
				result.completeExceptionally(failure);
			}
		});
		result.whenComplete((done, failure) -> iterator.close());
		return result;
	}

	/**
	 * One turn of a loop.
	 *
	 * @since 0.1.0
	 */
	@FunctionalInterface
	public interface Step {

		/**
		 * Takes one turn.
		 * @return the stage of whether to go on
		 */
		CompletionStage<Boolean> turn();

	}

	/**
	 * The loop: whoever finds a turn ready runs the next one; a turn that is not ready
	 * continues the loop from the thread that completes it.
	 */
	private static final class Turns implements Runnable {

		private static final int UNDECIDED = 0;

		private static final int READY = 1;

		private static final int LEFT = 2;

		private final Step step;

		private final CompletableFuture<Void> done = new EngineFuture<>();

		Turns(Step step) {
			this.step = step;
		}

		@Override
		public void run() {
			while (true) {
				AtomicInteger handover = new AtomicInteger(UNDECIDED);
				boolean[] more = new boolean[1];
				try {
					this.step.turn().whenComplete((value, failure) -> {
						more[0] = accept(value, failure);
						if (!handover.compareAndSet(UNDECIDED, READY) && more[0]) {
							run();
						}
					});
				}
				catch (Throwable ex) {
					this.done.completeExceptionally(ex);
					return;
				}
				if (handover.compareAndSet(UNDECIDED, LEFT) || !more[0]) {
					return;
				}
			}
		}

		private boolean accept(@Nullable Boolean more, @Nullable Throwable failure) {
			if (failure != null) {
				this.done.completeExceptionally(Failures.unwrap(failure));
				return false;
			}
			if (!Boolean.TRUE.equals(more)) {
				this.done.complete(null);
				return false;
			}
			return true;
		}

	}

}
