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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work that another thread of the spill executor may do if one has nothing else to do.
 * Nobody waits for it and nobody needs it: it makes the work of another thread shorter.
 * So there are few helpers: one for two processors, as a helper that waits for the
 * processor of the thread that it helps is only in its way. While they have enough to do,
 * offers are refused. Work is short, or as long as what its owner does meanwhile: who has
 * more offers the rest again.
 */
final class SpareThreads {

	/**
	 * How many offers may wait.
	 */
	static final int MAX_OFFERS = 4;

	private static final int MAX_HELPERS = 4;

	/**
	 * Never helps.
	 */
	static final SpareThreads NONE = new SpareThreads((helper) -> {
	}, 0, System::nanoTime);

	private static final Logger logger = LoggerFactory.getLogger(SpareThreads.class);

	/**
	 * How long a helper goes on before the executor gives others their turn.
	 */
	private static final long MAX_NANOS = Duration.ofMillis(2).toNanos();

	/**
	 * When a helper was lost, by an executor that throws tasks away, or might as well be.
	 */
	private static final long FORGOTTEN_NANOS = Duration.ofSeconds(1).toNanos();

	private final Executor executor;

	private final int maxHelpers;

	private final LongSupplier ticker;

	/**
	 * The offers that wait; guarded by this.
	 */
	private final Queue<Runnable> offers = new ArrayDeque<>();

	/**
	 * The helpers that were asked for and have not gone; guarded by this.
	 */
	private final List<Helper> helpers = new ArrayList<>();

	/**
	 * Creates a view of the threads of an executor.
	 * @param executor has them; not shut down
	 */
	SpareThreads(Executor executor) {
		this(executor, helpers(Runtime.getRuntime().availableProcessors()), System::nanoTime);
	}

	/**
	 * Creates a view of the threads of an executor.
	 * @param maxHelpers how many of them may help at a time
	 * @param ticker the time in nanoseconds, from any origin
	 */
	SpareThreads(Executor executor, int maxHelpers, LongSupplier ticker) {
		this.executor = executor;
		this.maxHelpers = maxHelpers;
		this.ticker = ticker;
	}

	/**
	 * Returns how many helpers there may be on a machine.
	 */
	static int helpers(int processors) {
		return Math.min(processors / 2, MAX_HELPERS);
	}

	/**
	 * Offers work. The executor may be any: call this without a lock.
	 * @param work may run on another thread, soon or late, or never; never on this one
	 * before this method returns
	 * @return whether it may run; otherwise nobody is waited for
	 */
	boolean offer(Runnable work) {
		Helper helper;
		synchronized (this) {
			if (!add(work)) {
				return false;
			}
			if (this.helpers.size() == this.maxHelpers || isNextOfHelper()) {
				return true;
			}
			helper = new Helper();
			this.helpers.add(helper);
		}
		if (helper.ask()) {
			return true;
		}
		synchronized (this) {
			return !this.offers.remove(work);
		}
	}

	private boolean add(Runnable work) {
		if (this.offers.size() == MAX_OFFERS) {
			this.helpers.removeIf(Helper::isLost);
			if (this.helpers.isEmpty()) {
				// Nobody comes any more, maybe as the executor was full.
				this.offers.clear();
			}
		}
		return mayHelp() && this.offers.size() < MAX_OFFERS && this.offers.add(work);
	}

	/**
	 * Whether the only offer is what a helper goes on with: it will take it itself.
	 */
	private boolean isNextOfHelper() {
		return this.offers.size() == 1
				&& this.helpers.stream().anyMatch((helper) -> helper.runsOn == Thread.currentThread());
	}

	/**
	 * Tells whether there are helpers at all.
	 */
	boolean mayHelp() {
		return this.maxHelpers > 0;
	}

	/**
	 * The time in nanoseconds, from any origin.
	 */
	long time() {
		return this.ticker.getAsLong();
	}

	/**
	 * Takes the next offer for a helper, or lets the helper go.
	 */
	private synchronized @Nullable Runnable take(Helper helper) {
		return goesOn(helper) ? this.offers.poll() : null;
	}

	/**
	 * Tells whether a helper has something to do, or lets it go.
	 */
	private synchronized boolean goesOn(Helper helper) {
		if (this.offers.isEmpty()) {
			this.helpers.remove(helper);
		}
		return this.helpers.contains(helper);
	}

	private synchronized void remove(Helper helper) {
		this.helpers.remove(helper);
	}

	/**
	 * Does what is offered.
	 */
	private final class Helper implements Runnable {

		/**
		 * When it was last known to be there.
		 */
		private volatile long seen = time();

		/**
		 * Some executors run what they have no room for on the caller's thread, which has
		 * more urgent work.
		 */
		private volatile @Nullable Thread askedBy;

		/**
		 * Where it runs, or ran before it asked again.
		 */
		private volatile @Nullable Thread runsOn;

		private boolean refused;

		/**
		 * Asks the executor for a thread.
		 * @return whether it may come
		 */
		boolean ask() {
			this.askedBy = Thread.currentThread();
			try {
				SpareThreads.this.executor.execute(this);
			}
			catch (Throwable ex) {
				// Full, shut down, without a thread, or with a decorator that fails:
				// whatever it is, who needs the executor for its own work will see it.
				logger.debug("No spare thread can be had", ex);
				this.refused = true;
			}
			finally {
				this.askedBy = null;
			}
			if (this.refused) {
				remove(this);
			}
			return !this.refused;
		}

		boolean isLost() {
			return time() - this.seen > FORGOTTEN_NANOS;
		}

		@Override
		public void run() {
			if (this.askedBy == Thread.currentThread()) {
				this.refused = true;
				return;
			}
			this.runsOn = Thread.currentThread();
			long start = time();
			Runnable work = take(this);
			while (work != null) {
				this.seen = time();
				run(work);
				if (time() - start > MAX_NANOS) {
					if (goesOn(this)) {
						ask();
					}
					return;
				}
				work = take(this);
			}
		}

		private void run(Runnable work) {
			try {
				work.run();
			}
			catch (RuntimeException | Error ex) {
				// Whoever has to do the work will see what is wrong.
				logger.debug("A spare thread could not help", ex);
			}
		}

	}

}
