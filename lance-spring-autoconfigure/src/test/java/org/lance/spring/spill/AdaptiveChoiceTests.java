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

package org.lance.spring.spill;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.lance.spring.stream.IpcEncoder;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of the choice by what writing and compressing cost, with made-up times.
 */
class AdaptiveChoiceTests {

	private static final long LENGTH = 100_000;

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	private final AdaptiveChoice choice = new AdaptiveChoice();

	/**
	 * Nanoseconds for writing a byte.
	 */
	private double write;

	/**
	 * Nanoseconds for compressing a byte.
	 */
	private double compression = 2;

	private double ratio = 0.5;

	/**
	 * Handles bodies and returns which were compressed.
	 */
	private List<Boolean> bodies(int count) {
		return IntStream.range(0, count).mapToObj((i) -> body()).toList();
	}

	private boolean body() {
		boolean compresses = this.choice.compresses(LENGTH);
		long stored = LENGTH;
		if (compresses) {
			stored = (long) (LENGTH * this.ratio);
			this.choice.compressed(LENGTH, stored, (long) (LENGTH * this.compression));
		}
		this.choice.written(stored, (long) (stored * this.write));
		return compresses;
	}

	@Test
	void bothWaysAreTriedFirst() {
		this.write = 1;
		assertThat(bodies(3)).containsExactly(false, true, false);
	}

	@Test
	void whenTheDiskIsSlowThenBodiesAreCompressed() {
		this.write = 10;
		bodies(2);
		assertThat(bodies(AdaptiveChoice.PROBE_EVERY - 1)).containsOnly(true);
	}

	@Test
	void whenTheDiskIsFastThenBodiesAreNotCompressed() {
		this.write = 0.5;
		bodies(2);
		assertThat(bodies(AdaptiveChoice.PROBE_EVERY - 1)).containsOnly(false);
	}

	@Test
	void whenDataDoNotGetSmallerThenBodiesAreNotCompressed() {
		this.write = 10;
		this.ratio = 1;
		bodies(2);
		assertThat(bodies(AdaptiveChoice.PROBE_EVERY - 1)).containsOnly(false);
	}

	@Test
	void theOtherWayIsTriedNowAndThen() {
		for (double speed : new double[] { 0.5, 10 }) {
			this.write = speed;
			bodies(10 * AdaptiveChoice.PROBE_EVERY);
			boolean usual = speed == 10;
			List<Boolean> next = bodies(4 * AdaptiveChoice.PROBE_EVERY);
			assertThat(next).filteredOn((compressed) -> compressed != usual).hasSize(4);
		}
	}

	@Test
	void whenTheDiskBecomesSlowOrFastAgainThenTheChoiceFollows() {
		this.write = 0.5;
		bodies(50);
		this.write = 20;
		bodies(10);
		assertThat(bodies(20)).filteredOn((compressed) -> compressed).hasSizeGreaterThan(18);
		this.write = 0.5;
		bodies(40);
		assertThat(bodies(20)).filteredOn((compressed) -> compressed).hasSizeLessThan(2);
	}

	@Test
	void whenDataChangeThenAProbeNoticesIt() {
		this.write = 10;
		this.ratio = 1;
		bodies(50);
		this.ratio = 0.1;
		bodies(8 * AdaptiveChoice.PROBE_EVERY);
		assertThat(bodies(20)).filteredOn((compressed) -> compressed).hasSizeGreaterThan(18);
	}

	@Test
	void whenTheOtherWayIsHardlyCheaperThenNothingChanges() {
		// Compressed: 2 + 0.5 * 4.5 = 4.25, cheaper than 4.5, but not clearly.
		this.write = 4.5;
		bodies(2);
		assertThat(bodies(AdaptiveChoice.PROBE_EVERY - 1)).containsOnly(false);
		this.write = 20;
		bodies(40);
		this.write = 3.8;
		// Compressed: 2 + 0.5 * 3.8 = 3.9, dearer than 3.8, but not clearly.
		bodies(40);
		assertThat(bodies(20)).filteredOn((compressed) -> compressed).hasSizeGreaterThan(18);
	}

	@Test
	void smallBodiesAreNeitherCompressedNorMeasured() {
		assertThat(this.choice.compresses(AdaptiveChoice.SMALL - 1)).isFalse();
		this.choice.written(AdaptiveChoice.SMALL - 1, 1_000_000_000);
		assertThat(this.choice.compresses(LENGTH)).as("before anything was measured").isFalse();
		this.write = 10;
		bodies(5);
		assertThat(this.choice.compresses(AdaptiveChoice.SMALL - 1)).isFalse();
		assertThat(this.choice.compresses(AdaptiveChoice.SMALL)).isTrue();
	}

	@Test
	void theEncoderMeasuresByItsTicker() {
		for (long slowness : new long[] { 100, 0 }) {
			List<Boolean> compressed = new ArrayList<>();
			long[] now = { 0 };
			SpillFormat format = new SpillFormat(SpillCompression.adaptive(1), false);
			// Each look at the time takes 100 µs, so both do as well.
			try (MessageEncoder encoder = new MessageEncoder(Batches.SCHEMA, format, this.engine.allocator(),
					() -> now[0] += 100_000);
					RecordBatch batch = new Batches(this.engine.allocator()).rows(10_000, 3)) {
				encoder.schema(Map.of());
				for (int i = 0; i < 20; i++) {
					IpcEncoder.Message message = encoder.batch(batch);
					compressed.add(message.uncompressedLength() > 0);
					long start = encoder.time();
					now[0] += slowness * message.length();
					encoder.written(message.length(), start);
					encoder.release();
				}
			}
			assertThat(compressed.subList(0, 2)).containsExactly(false, true);
			assertThat(compressed.subList(2, 20)).containsOnly(slowness == 100);
		}
	}

}
