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

import java.util.concurrent.TimeUnit;

import org.apache.arrow.memory.RootAllocator;
import org.lance.spring.spill.ReplaySpill;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Writes and reads very many batches of one row.
 *
 * @since 0.1.0
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SmallBatchesBenchmark {

	/**
	 * How many batches.
	 */
	@Param({ "100000", "200000" })
	public int count;

	/**
	 * Where they are kept.
	 */
	@Param
	public SmallBatches.Place place;

	private Directory directory;

	private RootAllocator allocator;

	private Engine engine;

	private ReplaySpill spill;

	/**
	 * Starts the engine.
	 */
	@Setup
	public void open() {
		this.directory = new Directory();
		this.allocator = Batches.allocator(Long.MAX_VALUE);
		this.engine = new Engine(this.allocator, this.directory.path());
	}

	/**
	 * Writes and reads them once.
	 */
	@Benchmark
	public void writeAndReplay() {
		this.spill = SmallBatches.write(this.count, this.place, this.engine.manager(), this.allocator);
		SmallBatches.replay(this.spill, this.count);
	}

	/**
	 * Removes them.
	 */
	@TearDown(Level.Invocation)
	public void remove() {
		Engine.close(this.spill);
	}

	/**
	 * Gives everything back.
	 */
	@TearDown
	public void close() {
		this.engine.close();
		this.allocator.close();
		this.directory.close();
	}

}
