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

/**
 * The middle of some numbers and how far they spread.
 *
 * @param first below it lies a quarter of them
 * @param median below it lies a half of them
 * @param third below it lie three quarters of them
 */
record Quartiles(double first, double median, double third) {

	static Quartiles of(List<Double> numbers) {
		double[] sorted = numbers.stream().mapToDouble(Double::doubleValue).sorted().toArray();
		return new Quartiles(at(sorted, 0.25), at(sorted, 0.5), at(sorted, 0.75));
	}

	private static double at(double[] sorted, double part) {
		double index = part * (sorted.length - 1);
		int below = (int) Math.floor(index);
		int above = (int) Math.ceil(index);
		return sorted[below] + (index - below) * (sorted[above] - sorted[below]);
	}

}
