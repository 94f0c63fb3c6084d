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

import java.util.List;
import java.util.Locale;

/**
 * The results as Markdown.
 */
final class Table {

	private static final double MICRO = 1e3;

	private static final double MILLI = 1e6;

	private final StringBuilder text = new StringBuilder();

	Table() {
		this.text
			.append("| what; compared with | it takes | the other takes | ratio (quartiles) | rounds | goal | met |\n");
		this.text.append("| --- | ---: | ---: | --- | ---: | --- | --- |\n");
	}

	void add(Experiment experiment, Scores scores) {
		for (Row row : experiment.rows()) {
			List<Double> ratios = scores.ratios(experiment.name(), row.numerator(), row.denominator());
			if (ratios.isEmpty()) {
				continue;
			}
			Quartiles ratio = Quartiles.of(ratios);
			String numerator = time(scores.nanos(experiment.name(), row.numerator()));
			String denominator = time(scores.nanos(experiment.name(), row.denominator()));
			boolean speed = row.bound().atLeast();
			line(row.title(), speed ? denominator : numerator, speed ? numerator : denominator,
					"%s (%s to %s)".formatted(ratio(ratio.median()), ratio(ratio.first()), ratio(ratio.third())),
					String.valueOf(ratios.size()), row.bound().toString(), row.bound().isMet(ratio.median()));
		}
	}

	private void line(String title, String subject, String other, String ratio, String rounds, String goal,
			boolean met) {
		this.text.append("| ")
			.append(String.join(" | ", title, subject, other, ratio, rounds, goal, met ? "yes" : "**no**"))
			.append(" |\n");
	}

	static String ratio(double value) {
		return String.format(Locale.ROOT, "%.2f", value);
	}

	private static String time(List<Double> nanos) {
		double median = Quartiles.of(nanos).median();
		if (median >= MILLI) {
			return String.format(Locale.ROOT, "%.0f ms", median / MILLI);
		}
		return String.format(Locale.ROOT, "%.2f µs", median / MICRO);
	}

	@Override
	public String toString() {
		return this.text.toString();
	}

}
