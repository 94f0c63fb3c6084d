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
import java.util.Collections;
import java.util.List;

/**
 * Runs experiments and prints their table. Arguments: the directory of the results, the
 * number of rounds, and the names of experiments, all if there is none. Rounds are added
 * to those that the directory holds already; with 0 it only prints.
 *
 * @since 0.1.0
 */
public final class Comparison {

	private final Scores scores;

	private Comparison(Scores scores) {
		this.scores = scores;
	}

	/**
	 * Runs it.
	 * @param args see above
	 * @throws IOException if a contender fails or its result can't be kept
	 * @throws InterruptedException if this thread is interrupted
	 */
	public static void main(String[] args) throws IOException, InterruptedException {
		Path results = Files.createDirectories(Path.of(args[0]));
		int rounds = Integer.parseInt(args[1]);
		List<String> names = List.of(args).subList(2, args.length);
		List<Experiment> experiments = Experiments.all()
			.stream()
			.filter((experiment) -> names.isEmpty() || names.contains(experiment.name()))
			.toList();
		Comparison comparison = new Comparison(new Scores(results.resolve("scores.jsonl")));
		List<Measurement> measurements = Measurements.all()
			.stream()
			.filter((measurement) -> names.isEmpty() || names.contains(measurement.name()))
			.toList();
		if (experiments.isEmpty() && measurements.isEmpty()) {
			throw new IllegalArgumentException("There is none of " + names);
		}
		Files.writeString(results.resolve("machine.md"), Machine.describe());
		for (Experiment experiment : experiments) {
			comparison.run(experiment, rounds);
		}
		Path lines = results.resolve("measurements.jsonl");
		for (Measurement measurement : measurements) {
			if (rounds > 0) {
				measurement.run(lines);
			}
		}
		String table = comparison.table() + "\n" + Measurements.table(lines);
		Files.writeString(results.resolve("table.md"), table);
		System.out.println(table);
	}

	/**
	 * Every other round goes backwards, so that nobody is always behind the same one.
	 */
	private void run(Experiment experiment, int rounds) throws IOException, InterruptedException {
		int done = this.scores.rounds(experiment.name());
		for (int round = done + 1; round <= done + rounds; round++) {
			List<Contender> contenders = new ArrayList<>(experiment.contenders());
			if (round % 2 == 0) {
				Collections.reverse(contenders);
			}
			for (Contender contender : contenders) {
				List<Double> nanos = contender.run();
				this.scores.add(experiment.name(), contender.name(), round, nanos);
				System.err.printf("%s, round %d: %s %,.0f ns%n", experiment.name(), round, contender.name(),
						Quartiles.of(nanos).median());
			}
		}
	}

	private String table() {
		Table table = new Table();
		Experiments.all().forEach((experiment) -> table.add(experiment, this.scores));
		return table.toString();
	}

}
