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

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.EngineThreads;

/**
 * The spills of one manager that hold anything, and whether more are taken.
 */
final class LiveSpills implements SpillOwner {

	private static final String SHUTTING_DOWN = "the spill manager is shutting down";

	private final SpillExecutor executor;

	private final Set<SpillCore> spills = ConcurrentHashMap.newKeySet();

	private final Object lock = new Object();

	private int busy;

	private boolean closed;

	/**
	 * The drain in progress, also after it ended, until more spills are taken.
	 */
	private @Nullable CompletableFuture<Void> draining;

	LiveSpills(SpillExecutor executor) {
		this.executor = executor;
	}

	/**
	 * Takes a new spill.
	 * @throws SpillClosedException if no more are taken
	 */
	void add(SpillCore spill) {
		synchronized (this.lock) {
			checkOpen(spill.name());
			this.busy++;
			this.spills.add(spill);
		}
	}

	void checkOpen(String name) {
		synchronized (this.lock) {
			if (this.closed || this.draining != null) {
				throw new SpillClosedException(name, SHUTTING_DOWN + " and takes no more spills", null);
			}
		}
	}

	@Override
	public void busyChanged(boolean now) {
		CompletableFuture<Void> drained = null;
		synchronized (this.lock) {
			this.busy += now ? 1 : -1;
			if (this.busy == 0) {
				drained = this.draining;
			}
		}
		if (drained != null) {
			drained.complete(null);
		}
	}

	@Override
	public void gone(SpillCore spill) {
		this.spills.remove(spill);
	}

	/**
	 * The spill that would hold most is the one to move, be it the one that asks.
	 */
	@Override
	public @Nullable CompletionStage<?> makeRoom(SpillCore spill, long wanted) {
		// Looked at once: a number that changes while it is sorted by is no order.
		List<Holder> larger = this.spills.stream()
			.filter((other) -> other != spill)
			.map((other) -> new Holder(other, other.movable()))
			.filter((other) -> other.bytes > wanted)
			.sorted(Comparator.comparingLong(Holder::bytes).reversed())
			.toList();
		for (Holder other : larger) {
			CompletionStage<Void> moved = other.spill.moveToDisk();
			if (moved != null) {
				return moved;
			}
		}
		return null;
	}

	List<SpillCore> all() {
		return List.copyOf(this.spills);
	}

	int size() {
		return this.spills.size();
	}

	CompletionStage<Void> drain(Duration grace) {
		CompletableFuture<Void> drained;
		boolean idle;
		synchronized (this.lock) {
			CompletableFuture<Void> before = this.draining;
			drained = (before != null && !before.isDone()) ? before : EngineThreads.newFuture();
			this.draining = drained;
			idle = this.busy == 0;
		}
		if (idle) {
			drained.complete(null);
		}
		else if (grace.isZero() || grace.isNegative()) {
			failBusy(drained);
		}
		else {
			CompletableFuture.delayedExecutor(grace.toMillis(), TimeUnit.MILLISECONDS, Runnable::run)
				.execute(() -> this.executor.cleanUp(() -> failBusy(drained)));
		}
		return drained.copy();
	}

	/**
	 * Fails the spills that are still written or read, unless the drain was called off.
	 */
	private void failBusy(CompletableFuture<Void> of) {
		synchronized (this.lock) {
			if (this.draining != of) {
				return;
			}
		}
		this.spills.stream().filter(SpillCore::isBusy).forEach((spill) -> spill.close(SHUTTING_DOWN, true));
	}

	void resume() {
		CompletableFuture<Void> calledOff;
		synchronized (this.lock) {
			calledOff = this.draining;
			this.draining = null;
		}
		if (calledOff != null) {
			calledOff.cancel(false);
		}
	}

	/**
	 * Takes no more spills and closes all.
	 * @return the stage that ends when nothing is held any more
	 */
	CompletionStage<Void> close() {
		synchronized (this.lock) {
			this.closed = true;
		}
		List<SpillCore> all = all();
		all.forEach((spill) -> spill.close("its spill manager was closed", true));
		return CompletableFuture
			.allOf(all.stream().map((spill) -> spill.closed().toCompletableFuture()).toArray(CompletableFuture[]::new));
	}

	/**
	 * What a spill held when it was looked at.
	 */
	private record Holder(SpillCore spill, long bytes) {

	}

}
