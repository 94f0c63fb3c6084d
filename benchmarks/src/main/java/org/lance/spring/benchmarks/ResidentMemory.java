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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Watches the resident memory of this process, as Linux tells it.
 */
final class ResidentMemory implements AutoCloseable {

	private static final Path STATUS = Path.of("/proc/self/status");

	private static final long INTERVAL_MILLIS = 20;

	private final Thread thread = new Thread(this::watch, "resident-memory");

	private volatile boolean stopped;

	private final List<Double> anonymous = new ArrayList<>();

	private long maxFile;

	ResidentMemory() {
		this.thread.setDaemon(true);
		this.thread.start();
	}

	private void watch() {
		try {
			while (!this.stopped) {
				look();
				Thread.sleep(INTERVAL_MILLIS);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private synchronized void look() {
		this.anonymous.add((double) bytes("RssAnon:"));
		this.maxFile = Math.max(this.maxFile, bytes("RssFile:"));
	}

	private static long bytes(String name) {
		try {
			for (String line : Files.readAllLines(STATUS)) {
				if (line.startsWith(name)) {
					return Long.parseLong(line.substring(name.length()).replace("kB", "").trim()) * 1024;
				}
			}
			throw new IllegalStateException("This system does not tell " + name);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The anonymous memory since this was last asked, in the middle: the JIT compiler
	 * takes some for moments.
	 */
	synchronized long takeAnonymous() {
		look();
		long median = (long) Quartiles.of(this.anonymous).median();
		this.anonymous.clear();
		return median;
	}

	synchronized long maxFile() {
		return this.maxFile;
	}

	void stop() throws InterruptedException {
		this.stopped = true;
		this.thread.join();
	}

	@Override
	public void close() {
		this.stopped = true;
	}

}
