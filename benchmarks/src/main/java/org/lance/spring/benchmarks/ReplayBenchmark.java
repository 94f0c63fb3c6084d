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
import java.util.concurrent.TimeUnit;

import org.apache.arrow.memory.RootAllocator;
import org.lance.spring.spill.Verification;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Reads a file of 1 GiB that is in the page cache, and touches every word of it.
 *
 * @since 0.1.0
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ReplayBenchmark {

	/**
	 * What is read.
	 */
	@Param
	public DataSet data;

	/**
	 * How it is read.
	 */
	@Param
	public Way way;

	/**
	 * How many read it at the same time.
	 */
	@Param("1")
	public int readers;

	private Directory directory;

	private RootAllocator allocator;

	private Batches batches;

	private BatchReplay replay;

	private long expected;

	/**
	 * Writes the file.
	 * @throws IOException if it can't be written
	 */
	@Setup
	public void open() throws IOException {
		this.directory = new Directory();
		this.allocator = Batches.allocator(Long.MAX_VALUE);
		this.batches = new Batches(this.data, this.allocator);
		this.expected = this.readers * this.batches.sum();
		this.replay = switch (this.way) {
			case SPILL_ALWAYS -> new SpillReplay(this.batches, this.directory, Verification.ALWAYS);
			case SPILL_NEVER -> new SpillReplay(this.batches, this.directory, Verification.NEVER);
			case ARROW -> new ArrowReplay(this.batches, this.directory);
		};
	}

	/**
	 * Reads.
	 * @return the sum of all words
	 * @throws IOException if it can't be read
	 */
	@Benchmark
	public long read() throws IOException {
		long sum = this.replay.read(this.readers);
		if (sum != this.expected) {
			throw new IllegalStateException("Something else was read than was written");
		}
		return sum;
	}

	/**
	 * Gives everything back.
	 */
	@TearDown
	public void close() {
		this.replay.close();
		this.batches.close();
		this.allocator.close();
		this.directory.close();
	}

	/**
	 * A way to read.
	 *
	 * @since 0.1.0
	 */
	public enum Way {

		/**
		 * A spill whose checksums are compared at each read, as by default.
		 */
		SPILL_ALWAYS,

		/**
		 * A spill whose checksums are never compared.
		 */
		SPILL_NEVER,

		/**
		 * Arrow's {@code ArrowStreamReader} on the channel of a file.
		 */
		ARROW

	}

}
