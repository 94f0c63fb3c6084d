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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * A JMH benchmark with its parameters, in a fork of its own.
 *
 * @param name the name
 * @param benchmark the class
 * @param parameters the value of each parameter
 * @param warmups the iterations before those that are measured
 * @param iterations those that are measured
 */
record JmhContender(String name, Class<?> benchmark, Map<String, String> parameters, int warmups,
		int iterations) implements Contender {

	private static final int ITERATIONS = 3;

	private static final String HEAP = "512m";

	JmhContender(String name, Class<?> benchmark, Map<String, String> parameters, int warmups) {
		this(name, benchmark, parameters, warmups, ITERATIONS);
	}

	@Override
	public List<Double> run() throws IOException {
		ChainedOptionsBuilder options = new OptionsBuilder().include(this.benchmark.getName() + "\\.")
			.forks(1)
			.warmupIterations(this.warmups)
			.warmupTime(TimeValue.seconds(1))
			.measurementIterations(this.iterations)
			.measurementTime(TimeValue.seconds(1))
			.shouldFailOnError(true)
			.verbosity(VerboseMode.SILENT)
			.jvmArgs(JavaProcess.steadyJvmArguments(HEAP).toArray(new String[0]));
		this.parameters.forEach(options::param);
		List<Double> scores = new ArrayList<>();
		try {
			for (RunResult result : new Runner(options.build()).run()) {
				for (BenchmarkResult fork : result.getBenchmarkResults()) {
					for (IterationResult iteration : fork.getIterationResults()) {
						scores.add(iteration.getPrimaryResult().getScore());
					}
				}
			}
		}
		catch (RunnerException ex) {
			throw new IOException(ex);
		}
		return scores;
	}

}
