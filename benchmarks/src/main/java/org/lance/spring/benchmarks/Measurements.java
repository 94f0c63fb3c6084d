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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * All measurements of memory.
 */
final class Measurements {

	private static final long MEBI = 1 << 20;

	private static final long SMALL_BATCHES_HEAP = 64 * MEBI;

	/**
	 * Four readers may each be in a window of their own, and 8 MiB into the next one,
	 * besides the four that stay mapped in any case and one that is about to be given
	 * back. A window is about 64 MiB and ends with a whole batch.
	 */
	private static final long WINDOWS = (9 * (64 + 5) + 4 * 8) * MEBI;

	/**
	 * The part of the memory that further windows may have.
	 */
	private static final long KEPT_PART = 16;

	/**
	 * What the class files and libraries of the JVM take of the same counter.
	 */
	private static final long JVM_FILES = 64 * MEBI;

	/**
	 * How much anonymous memory may grow while the same work goes on. The JIT compiler
	 * still takes some, and malloc keeps a few freed batches; data would take gigabytes.
	 */
	private static final long FLAT = 32 * MEBI;

	private static final String MEMORY_GROUP = "benchmarks.memory-group";

	private Measurements() {
	}

	static List<Measurement> all() {
		List<Measurement> measurements = new ArrayList<>();
		measurements.add(new Measurement("heap-memory", small(SmallBatches.Place.MEMORY, "2g")));
		measurements.add(new Measurement("heap-disk", small(SmallBatches.Place.DISK, "2g")));
		measurements.add(new Measurement("heap-disk-64m", small(SmallBatches.Place.DISK, "64m")));
		measurements.add(new Measurement("held", large("1", "64", "0")));
		if (LanceContender.isAvailable()) {
			measurements.add(new Measurement("held-lance",
					LanceContender.command(List.of("held", String.valueOf(DataSet.NUMBERS.batches()), "64"))));
		}
		measurements.add(new Measurement("large", large("10", "64", "4")));
		String group = System.getProperty(MEMORY_GROUP);
		if (group != null) {
			List<String> command = new ArrayList<>(List.of(group, String.valueOf(1L << 30)));
			command.addAll(large("10", "64", "4"));
			measurements.add(new Measurement("large-1g", command));
		}
		return measurements;
	}

	private static List<String> small(SmallBatches.Place place, String heap) {
		return JavaProcess.command(JavaProcess.jvmArguments(heap), SmallBatchesHeap.class, "200000", place.name());
	}

	private static List<String> large(String gibibytes, String limit, String readers) {
		return JavaProcess.command(JavaProcess.steadyJvmArguments("256m"), LargeSpill.class, gibibytes, limit, readers);
	}

	static String table(Path lines) throws IOException {
		StringBuilder text = new StringBuilder("| what | measured | goal | met |\n| --- | --- | --- | --- |\n");
		Map<String, String> last = new LinkedHashMap<>();
		if (Files.exists(lines)) {
			Files.readAllLines(lines).forEach((line) -> last.put(Json.string(line, "measurement"), line));
		}
		heap(text, last.get("heap-memory"), "heap held by 200,000 batches of one row in memory");
		heap(text, last.get("heap-disk"), "heap held by 200,000 batches of one row on disk");
		heapLimit(text, last.get("heap-disk-64m"));
		held(text, last.get("held"), last.get("held-lance"));
		large(text, last.get("large"), "10 GiB, limit 64 MiB, 4 readers");
		large(text, last.get("large-1g"), "the same in a memory group of 1 GiB");
		return text.toString();
	}

	private static void heap(StringBuilder text, String line, String title) {
		if (line != null && !failed(text, line, title)) {
			long bytes = Json.number(line, "liveHeapBytes");
			line(text, title, mebi(bytes), "≤ " + mebi(SMALL_BATCHES_HEAP), bytes <= SMALL_BATCHES_HEAP);
		}
	}

	private static void heapLimit(StringBuilder text, String line) {
		String title = "200,000 batches of one row on disk, written and read with a heap of 64 MB";
		if (line != null && !failed(text, line, title)) {
			line(text, title, "passes", "passes", true);
		}
	}

	private static void held(StringBuilder text, String line, String lance) {
		String title = "Arrow memory while 1 GiB is spilled at a limit of 64 MiB; Lance's Rust spill";
		if (line != null && lance != null && !failed(text, line, title)) {
			long own = Json.number(line, "peakArrowBytes");
			long other = Json.number(lance, "peakBytes");
			line(text, title, mebi(own), "≤ " + mebi(other), own <= other);
		}
	}

	private static void large(StringBuilder text, String line, String title) {
		if (line == null || failed(text, line, title)) {
			return;
		}
		long limit = Json.number(line, "memoryLimit") + 2 * Json.number(line, "batchBytes");
		long arrow = Json.number(line, "peakArrowBytes");
		line(text, title + ": Arrow memory", mebi(arrow), "≤ %s (limit and 2 batches)".formatted(mebi(limit)),
				arrow <= limit);
		List<Double> anonymous = Json.numbers(line, "rssAnon");
		growth(text, title + ": growth of anonymous memory, from the second fifth of the writing to its last",
				anonymous.get(1), anonymous.get(4));
		growth(text, title + ": growth of anonymous memory, from the second pass of the readers to their third",
				anonymous.get(6), anonymous.get(7));
		long files = Json.number(line, "rssFileMax");
		long most = WINDOWS + Json.number(line, "memory") / KEPT_PART + JVM_FILES;
		line(text, title + ": resident file pages", mebi(files),
				"≤ %s (9 windows, a 16th of the memory, 32 MiB ahead and the JVM)".formatted(mebi(most)),
				files <= most);
	}

	private static void growth(StringBuilder text, String title, double from, double to) {
		long growth = (long) (to - from);
		line(text, title, mebi(growth), "≤ " + mebi(FLAT), growth <= FLAT);
	}

	private static boolean failed(StringBuilder text, String line, String title) {
		boolean failed = line.contains("\"failed\"");
		if (failed) {
			line(text, title, "failed", "passes", false);
		}
		return failed;
	}

	private static void line(StringBuilder text, String title, String measured, String goal, boolean met) {
		text.append("| ").append(String.join(" | ", title, measured, goal, met ? "yes" : "**no**")).append(" |\n");
	}

	private static String mebi(long bytes) {
		return String.format(Locale.ROOT, "%.1f MiB", bytes / (double) MEBI);
	}

}
