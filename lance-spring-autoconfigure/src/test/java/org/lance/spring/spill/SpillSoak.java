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

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Uses spills in random ways for minutes, with whatever goes wrong: nothing may hang,
 * leak, fail in another way than was to be expected or give a wrong row. Not part of the
 * build, see {@code src/test/scripts/soak.sh}.
 * <p>
 * The choices follow from {@code soak.seed}; which thread comes first does not. With
 * {@code soak.round}, the one round of that seed is run again and again.
 */
@Tag("soak")
class SpillSoak {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final SoakReport report = new SoakReport();

	private final ListAppender<ILoggingEvent> errors = new ListAppender<>();

	@TempDir
	Path base;

	@Test
	void spillsAreUsedInRandomWays() throws Exception {
		double minutes = Double.parseDouble(System.getProperty("soak.minutes", "1"));
		long seed = Long.getLong("soak.seed", System.nanoTime());
		Long only = Long.getLong("soak.round");
		System.out.printf("Soak of %.1f minutes, -Dsoak.seed=%d%n", minutes, seed);
		watchErrors();
		ExecutorService users = Executors.newCachedThreadPool();
		try {
			Random random = new Random(seed);
			long end = System.nanoTime() + (long) (minutes * TimeUnit.MINUTES.toNanos(1));
			while (System.nanoTime() < end) {
				long round = (only != null) ? only : random.nextLong();
				run(round, users);
			}
		}
		finally {
			users.shutdownNow();
			System.out.print(this.report);
		}
	}

	/**
	 * What the engine logs as an error is one of its own.
	 */
	private void watchErrors() {
		Logger logger = (Logger) LoggerFactory.getLogger("org.lance.spring");
		logger.setLevel(Level.ERROR);
		this.errors.start();
		logger.addAppender(this.errors);
	}

	private void run(long seed, ExecutorService users) throws Exception {
		SoakRound round = new SoakRound(seed, this.base, users, this.report);
		Future<?> running = users.submit(() -> {
			round.run();
			return null;
		});
		try {
			await(running);
			if (this.report.failure() != null) {
				throw new AssertionError(this.report.failure());
			}
			assertThat(this.errors.list).filteredOn((event) -> event.getLevel() == Level.ERROR).isEmpty();
		}
		catch (Throwable ex) {
			throw new AssertionError("The round of -Dsoak.round=%d fails".formatted(seed), ex);
		}
	}

	/**
	 * Waits as long as anything happens and all goes well.
	 */
	private void await(Future<?> running) throws Exception {
		long progress = -1;
		long since = System.nanoTime();
		while (true) {
			try {
				running.get(1, TimeUnit.SECONDS);
				return;
			}
			catch (TimeoutException ex) {
				long now = System.nanoTime();
				if (this.report.failure() != null) {
					// It may keep others from their end.
					return;
				}
				if (this.report.progress() != progress) {
					progress = this.report.progress();
					since = now;
				}
				else if (now - since > PATIENCE.toNanos()) {
					throw new AssertionError("Nothing happens for %s:%n%s".formatted(PATIENCE, threads()));
				}
			}
		}
	}

	private static String threads() {
		return Arrays.stream(ManagementFactory.getThreadMXBean().dumpAllThreads(true, true))
			.map(ThreadInfo::toString)
			.collect(Collectors.joining());
	}

}
