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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work that a second thread of the spill executor may do if one has nothing else to do.
 * Nobody waits for it and nobody needs it: it makes the work of another thread shorter.
 * While offers are not taken, because all threads are busy, no more are made, so that
 * they are hardly in the way of what has to be done. Work is short: who has more offers
 * the rest again.
 */
final class SpareThreads {

	/**
	 * How many offers may wait or run.
	 */
	static final int MAX_OFFERS = 4;

	/**
	 * Never helps.
	 */
	static final SpareThreads NONE = new SpareThreads((offer) -> {
	}, 0, System::nanoTime);

	private static final Logger logger = LoggerFactory.getLogger(SpareThreads.class);

	/**
	 * When an offer was lost, by an executor that throws tasks away, or might as well be.
	 */
	private static final long FORGOTTEN_NANOS = Duration.ofSeconds(1).toNanos();

	private final Executor executor;

	private final int maxOffers;

	private final LongSupplier ticker;

	/**
	 * The offers that wait or run; guarded by this.
	 */
	private final List<Offer> offers = new ArrayList<>();

	/**
	 * Creates a view of the threads of an executor.
	 * @param executor has them; not shut down
	 */
	SpareThreads(Executor executor) {
		this(executor, System::nanoTime);
	}

	/**
	 * Creates a view of the threads of an executor.
	 * @param ticker the time in nanoseconds, from any origin
	 */
	SpareThreads(Executor executor, LongSupplier ticker) {
		this(executor, MAX_OFFERS, ticker);
	}

	private SpareThreads(Executor executor, int maxOffers, LongSupplier ticker) {
		this.executor = executor;
		this.maxOffers = maxOffers;
		this.ticker = ticker;
	}

	/**
	 * Offers work. The executor may be any: call this without a lock.
	 * @param work may run on another thread, soon or late, or never; never on this one
	 * before this method returns
	 * @return whether it may run; otherwise nobody is waited for
	 */
	boolean offer(Runnable work) {
		Offer offer = new Offer(work);
		if (!add(offer)) {
			return false;
		}
		try {
			this.executor.execute(offer);
			return true;
		}
		catch (Throwable ex) {
			// Full, shut down, without a thread, or with a decorator that fails: whatever
			// it is, who needs the executor for its own work will see it.
			logger.debug("No spare thread can be had", ex);
			remove(offer);
			return false;
		}
		finally {
			offer.offeredBy = null;
		}
	}

	/**
	 * The time in nanoseconds, from any origin.
	 */
	long time() {
		return this.ticker.getAsLong();
	}

	private synchronized boolean add(Offer offer) {
		if (this.offers.size() >= this.maxOffers) {
			this.offers.removeIf((each) -> offer.start - each.start > FORGOTTEN_NANOS);
		}
		return this.offers.size() < this.maxOffers && this.offers.add(offer);
	}

	private synchronized void remove(Offer offer) {
		this.offers.remove(offer);
	}

	/**
	 * Work that is offered.
	 */
	private final class Offer implements Runnable {

		private final Runnable work;

		private final long start = time();

		/**
		 * Some executors run what they have no room for on the caller's thread, which has
		 * more urgent work.
		 */
		private volatile @Nullable Thread offeredBy = Thread.currentThread();

		Offer(Runnable work) {
			this.work = work;
		}

		@Override
		public void run() {
			try {
				if (this.offeredBy != Thread.currentThread()) {
					this.work.run();
				}
			}
			catch (RuntimeException | Error ex) {
				// Whoever has to do the work will see what is wrong.
				logger.debug("A spare thread could not help", ex);
			}
			finally {
				remove(this);
			}
		}

	}

}
