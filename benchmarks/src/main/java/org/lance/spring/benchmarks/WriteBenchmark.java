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
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Writes 1 GiB into a new file, without forcing it to the disk. Removing the file is not
 * measured.
 *
 * @since 0.1.0
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class WriteBenchmark {

	/**
	 * What is written.
	 */
	@Param
	public DataSet data;

	/**
	 * How it is written.
	 */
	@Param
	public Way way;

	private Directory directory;

	private RootAllocator allocator;

	private Batches batches;

	private BatchWriter writer;

	/**
	 * Makes the data.
	 */
	@Setup
	public void open() {
		this.directory = new Directory();
		this.allocator = Batches.allocator(Long.MAX_VALUE);
		this.batches = new Batches(this.data, this.allocator);
		this.writer = switch (this.way) {
			case SPILL -> new SpillBatchWriter(this.batches, this.directory, Verification.ALWAYS);
			case ARROW -> new ArrowBatchWriter(this.batches, this.directory);
			case RAW -> new RawWriter(this.batches, this.directory);
			case SPILL_NEVER -> new SpillBatchWriter(this.batches, this.directory, Verification.NEVER);
		};
	}

	/**
	 * Writes.
	 * @throws IOException if it can't be written
	 */
	@Benchmark
	public void write() throws IOException {
		this.writer.write();
	}

	/**
	 * Removes the file.
	 * @throws IOException if it can't be removed
	 */
	@TearDown(Level.Invocation)
	public void remove() throws IOException {
		this.writer.remove();
	}

	/**
	 * Gives everything back.
	 */
	@TearDown
	public void close() {
		this.writer.close();
		this.batches.close();
		this.allocator.close();
		this.directory.close();
	}

	/**
	 * A way to write.
	 *
	 * @since 0.1.0
	 */
	public enum Way {

		/**
		 * A replay spill without memory.
		 */
		SPILL,

		/**
		 * Arrow's {@code ArrowStreamWriter} on the channel of a file.
		 */
		ARROW,

		/**
		 * The same bytes, made before, in pieces of 1 MiB.
		 */
		RAW,

		/**
		 * A replay spill without memory that is never verified, so without checksums.
		 */
		SPILL_NEVER

	}

}
