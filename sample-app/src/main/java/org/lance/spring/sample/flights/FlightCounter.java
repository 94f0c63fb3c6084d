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

package org.lance.spring.sample.flights;

import java.util.ArrayList;
import java.util.List;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.SmallIntVector;
import org.lance.spring.sample.flights.FlightSummary.DistanceBand;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;

/**
 * Adds flights up, batch by batch. One thread at a time.
 */
class FlightCounter {

	private static final int[] BAND_STARTS = { 0, 250, 500, 1000, 1500, 2000 };

	private final BufferAllocator allocator;

	private final long[] flights = new long[BAND_STARTS.length];

	private final long[] delays = new long[BAND_STARTS.length];

	FlightCounter(BufferAllocator allocator) {
		this.allocator = allocator;
	}

	/**
	 * Adds a batch.
	 * @param batch the batch, closed afterwards
	 */
	void add(RecordBatch batch) {
		try (batch; OpenBatch open = batch.open(this.allocator)) {
			SmallIntVector delay = (SmallIntVector) open.root().getVector("delay");
			SmallIntVector distance = (SmallIntVector) open.root().getVector("distance");
			for (int row = 0; row < open.root().getRowCount(); row++) {
				if (!delay.isNull(row) && !distance.isNull(row)) {
					int band = bandOf(distance.get(row));
					this.flights[band]++;
					this.delays[band] += delay.get(row);
				}
			}
		}
	}

	FlightSummary summary() {
		long rows = 0;
		long delay = 0;
		List<DistanceBand> bands = new ArrayList<>();
		for (int band = 0; band < BAND_STARTS.length; band++) {
			rows += this.flights[band];
			delay += this.delays[band];
			int to = (band + 1 < BAND_STARTS.length) ? BAND_STARTS[band + 1] : -1;
			bands.add(new DistanceBand(BAND_STARTS[band], to, this.flights[band],
					mean(this.delays[band], this.flights[band])));
		}
		return new FlightSummary(rows, mean(delay, rows), bands);
	}

	private static int bandOf(int distance) {
		int band = BAND_STARTS.length - 1;
		while (band > 0 && distance < BAND_STARTS[band]) {
			band--;
		}
		return band;
	}

	private static double mean(long sum, long count) {
		return (count != 0) ? (double) sum / count : 0;
	}

}
