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
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What was measured, kept as one line of JSON for each run of a contender.
 */
final class Scores {

	private final Path file;

	/**
	 * By experiment and contender, then by round.
	 */
	private final Map<String, Map<Integer, Double>> medians = new LinkedHashMap<>();

	Scores(Path file) throws IOException {
		this.file = file;
		if (Files.exists(file)) {
			for (String line : Files.readAllLines(file)) {
				remember(Json.string(line, "experiment"), Json.string(line, "contender"),
						(int) Json.number(line, "round"), Json.numbers(line, "nanos"));
			}
		}
	}

	void add(String experiment, String contender, int round, List<Double> nanos) throws IOException {
		String line = "{\"experiment\":\"%s\",\"contender\":\"%s\",\"round\":%d,\"nanos\":%s}%n".formatted(experiment,
				contender, round, nanos);
		Files.writeString(this.file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
		remember(experiment, contender, round, nanos);
	}

	private void remember(String experiment, String contender, int round, List<Double> nanos) {
		this.medians.computeIfAbsent(key(experiment, contender), (key) -> new TreeMap<>())
			.put(round, Quartiles.of(nanos).median());
	}

	private static String key(String experiment, String contender) {
		return experiment + "/" + contender;
	}

	int rounds(String experiment) {
		return this.medians.entrySet()
			.stream()
			.filter((entry) -> entry.getKey().startsWith(experiment + "/"))
			.flatMap((entry) -> entry.getValue().keySet().stream())
			.max(Integer::compare)
			.orElse(0);
	}

	/**
	 * The times of a contender, one for each round.
	 */
	List<Double> nanos(String experiment, String contender) {
		return List.copyOf(this.medians.getOrDefault(key(experiment, contender), Map.of()).values());
	}

	/**
	 * How the times of two contenders relate, in each round that has both.
	 */
	List<Double> ratios(String experiment, String numerator, String denominator) {
		Map<Integer, Double> below = this.medians.getOrDefault(key(experiment, denominator), Map.of());
		List<Double> ratios = new ArrayList<>();
		this.medians.getOrDefault(key(experiment, numerator), Map.of()).forEach((round, nanos) -> {
			if (below.containsKey(round)) {
				ratios.add(nanos / below.get(round));
			}
		});
		return ratios;
	}

}
