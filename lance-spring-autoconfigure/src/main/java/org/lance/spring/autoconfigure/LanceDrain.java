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

package org.lance.spring.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.lance.spring.dataset.LanceTemplate;
import org.lance.spring.spill.SpillManager;
import org.lance.spring.stream.BackgroundExecutor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * Lets streams, spills and writes come to their end before what they work with is taken
 * away: after the web server, whose requests may still have opened some, and before the
 * executors. Takes no new ones, gives the open ones a grace time, then fails the rest.
 * Never blocks, and may be started again.
 */
final class LanceDrain implements SmartLifecycle {

	/**
	 * Below the phases of the web server, above that of the executors.
	 */
	static final int PHASE = ExecutorConfigurationSupport.DEFAULT_PHASE + 1024;

	/**
	 * How long what was failed may take to give everything back. A source that is blocked
	 * for longer does not hold up the shutdown.
	 */
	static final Duration CLOSING_TIME = Duration.ofSeconds(2);

	private static final Logger logger = LoggerFactory.getLogger(LanceDrain.class);

	private final List<Drainable> drainables;

	private final Duration grace;

	private volatile boolean running;

	private volatile boolean drained;

	/**
	 * Creates the drain.
	 * @param drainables what to drain; each may read from those after it
	 * @param grace how long they may go on
	 */
	LanceDrain(List<Drainable> drainables, Duration grace) {
		this.drainables = drainables;
		this.grace = grace;
	}

	@Override
	public void start() {
		if (this.drained) {
			this.drained = false;
			this.drainables.forEach(Drainable::resume);
		}
		this.running = true;
	}

	@Override
	public void stop() {
		drain();
	}

	@Override
	public void stop(Runnable callback) {
		drain().whenComplete((result, ex) -> callback.run());
	}

	private CompletableFuture<?> drain() {
		this.running = false;
		this.drained = true;
		// The time given here is only a second net: at the end of the grace time they are
		// failed from here, because the order matters.
		Duration limit = this.grace.plus(CLOSING_TIME);
		CompletableFuture<?>[] stages = this.drainables.stream()
			.map((drainable) -> drain(drainable, limit))
			.toArray(CompletableFuture[]::new);
		CompletableFuture<Void> all = CompletableFuture.allOf(stages);
		// Async: the JVM's timer must not wait for what hangs on the failed stages.
		all.copy().orTimeout(this.grace.toMillis(), TimeUnit.MILLISECONDS).whenCompleteAsync((result, ex) -> {
			if (ex instanceof TimeoutException) {
				failTheRest(stages);
			}
		});
		return all.orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS).whenComplete((result, ex) -> {
			if (ex != null) {
				logger.warn("The shutdown goes on although not everything came to its end: {}", unfinished(stages),
						(ex instanceof TimeoutException) ? null : ex);
			}
		});
	}

	private static CompletableFuture<?> drain(Drainable drainable, Duration limit) {
		try {
			return drainable.drain(limit).toCompletableFuture().copy();
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Fails readers before what they read from, so that each gets the exception that says
	 * what was shut down, and not a failure of its source.
	 */
	private void failTheRest(CompletableFuture<?>[] stages) {
		logger.info("The time to shut down is over, and what is still open is failed: {}", unfinished(stages));
		this.drainables.forEach((drainable) -> drain(drainable, Duration.ZERO));
	}

	private String unfinished(CompletableFuture<?>[] stages) {
		return IntStream.range(0, stages.length)
			.filter((i) -> !stages[i].isDone() || stages[i].isCompletedExceptionally())
			.mapToObj((i) -> this.drainables.get(i).name())
			.collect(Collectors.joining(", "));
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	/**
	 * What can be drained.
	 *
	 * @param name what it is, in the plural
	 * @param start starts draining and gives the stage of its end
	 * @param restart ends draining
	 */
	record Drainable(String name, Function<Duration, CompletionStage<?>> start, Runnable restart) {

		static Drainable of(BackgroundExecutor streams) {
			return new Drainable("background streams", streams::drain, streams::resume);
		}

		static Drainable of(SpillManager spills) {
			return new Drainable("spills", spills::drain, spills::resume);
		}

		static Drainable of(LanceTemplate template) {
			return new Drainable("Lance writes", template::drain, template::resume);
		}

		CompletionStage<?> drain(Duration grace) {
			return this.start.apply(grace);
		}

		void resume() {
			this.restart.run();
		}

	}

}
