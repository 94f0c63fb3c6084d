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

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * All experiments.
 */
final class Experiments {

	private static final int WARMUPS = 4;

	/**
	 * Until the JIT compiler is done with what runs once for each of a few hundred
	 * batches.
	 */
	private static final Map<DataSet, Integer> WRITE_WARMUPS = Map.of(DataSet.NUMBERS, 16, DataSet.WIDE, 4,
			DataSet.TEXT, 8);

	private static final Map<DataSet, Integer> REPLAY_WARMUPS = Map.of(DataSet.NUMBERS, 120, DataSet.LARGE, 30);

	/**
	 * More than of others: a replay takes so little time that what the system does
	 * meanwhile, and where it places threads, shows.
	 */
	private static final int REPLAYS = 15;

	private Experiments() {
	}

	static List<Experiment> all() {
		return List.of(writeNumbers(), writeWide(), writeText(), replayNumbers(), replayLarge(), fourReaders(),
				handOff(), smallBatches(SmallBatches.Place.MEMORY), smallBatches(SmallBatches.Place.DISK));
	}

	private static Experiment writeNumbers() {
		return new Experiment("write-numbers",
				withLance(write(DataSet.NUMBERS, WriteBenchmark.Way.values()), "write", DataSet.NUMBERS),
				List.of(Row.faster("write 8 number columns; ArrowStreamWriter", "arrow", "spill", 1),
						Row.faster("write 8 number columns; raw writes of 1 MiB", "raw", "spill", 0.85),
						Row.faster("write 8 number columns; the same without checksums", "spill-never", "spill", 0.85),
						Row.faster("write 8 number columns; Lance's Rust spill", "lance", "spill", 1)));
	}

	private static Experiment writeWide() {
		return new Experiment("write-wide",
				write(DataSet.WIDE, WriteBenchmark.Way.SPILL, WriteBenchmark.Way.ARROW, WriteBenchmark.Way.RAW),
				List.of(Row.faster("write 64 number columns of 1,000 rows; ArrowStreamWriter", "arrow", "spill", 2.5)));
	}

	private static Experiment writeText() {
		return new Experiment("write-text",
				write(DataSet.TEXT, WriteBenchmark.Way.SPILL, WriteBenchmark.Way.ARROW, WriteBenchmark.Way.RAW),
				List.of(Row.faster("write 8 text columns; raw writes of 1 MiB", "raw", "spill", 0.8)));
	}

	private static Experiment replayNumbers() {
		return new Experiment("replay-numbers", withLance(replay(DataSet.NUMBERS, 1), "replay", DataSet.NUMBERS),
				List.of(Row.faster("replay 8 number columns, verified; ArrowStreamReader", "arrow", "spill-always", 1),
						Row.faster("replay 8 number columns, not verified; ArrowStreamReader", "arrow", "spill-never",
								1.5),
						Row.faster("replay 8 number columns, verified; Lance's Rust spill", "lance", "spill-always", 2),
						Row.faster("replay 8 number columns, not verified; Lance's Rust spill", "lance", "spill-never",
								2)));
	}

	private static Experiment replayLarge() {
		return new Experiment("replay-large", replay(DataSet.LARGE, 1), List.of(
				Row.faster("replay bodies of 42.6 MB, verified; ArrowStreamReader", "arrow", "spill-always", 6),
				Row.faster("replay bodies of 42.6 MB, not verified; ArrowStreamReader", "arrow", "spill-never", 8)));
	}

	private static Experiment fourReaders() {
		return new Experiment("replay-4-readers", replay(DataSet.NUMBERS, 4), List.of(Row
			.faster("4 readers of 8 number columns, not verified; 4 ArrowStreamReaders", "arrow", "spill-never", 1.6)));
	}

	private static Experiment handOff() {
		List<Contender> contenders = new ArrayList<>();
		for (HandOffBenchmark.Way way : HandOffBenchmark.Way.values()) {
			contenders.add(new JmhContender(name(way), HandOffBenchmark.class, Map.of("way", way.name()), WARMUPS));
		}
		return new Experiment("hand-off", contenders,
				List.of(Row.cost("hand-off of a batch of 8 columns in memory, as a handle; VectorLoader.load", "batch",
						"loader", 2),
						Row.cost("the same, as an Arrow reader; VectorLoader.load", "reader", "loader", 2),
						Row.cost("the same, opened as new vectors; VectorLoader.load into new vectors", "open",
								"new-vectors", 2)));
	}

	private static Experiment smallBatches(SmallBatches.Place place) {
		List<Contender> contenders = new ArrayList<>();
		for (String count : List.of("100000", "200000")) {
			contenders.add(new JmhContender(count, SmallBatchesBenchmark.class,
					Map.of("count", count, "place", place.name()), (place == SmallBatches.Place.DISK) ? 1 : WARMUPS));
		}
		return new Experiment("small-batches-" + name(place), contenders, List.of(Row
			.cost("200,000 batches of one row (%s); 100,000 of them".formatted(name(place)), "200000", "100000", 2.2)));
	}

	private static List<Contender> write(DataSet data, WriteBenchmark.Way... ways) {
		List<Contender> contenders = new ArrayList<>();
		for (WriteBenchmark.Way way : ways) {
			contenders.add(new JmhContender(name(way), WriteBenchmark.class,
					Map.of("data", data.name(), "way", way.name()), WRITE_WARMUPS.getOrDefault(data, WARMUPS)));
		}
		return contenders;
	}

	private static List<Contender> replay(DataSet data, int readers) {
		List<Contender> contenders = new ArrayList<>();
		for (ReplayBenchmark.Way way : ReplayBenchmark.Way.values()) {
			contenders.add(new JmhContender(name(way), ReplayBenchmark.class,
					Map.of("data", data.name(), "way", way.name(), "readers", String.valueOf(readers)),
					REPLAY_WARMUPS.getOrDefault(data, WARMUPS) / readers, REPLAYS));
		}
		return contenders;
	}

	private static List<Contender> withLance(List<Contender> contenders, String work, DataSet data) {
		if (LanceContender.isAvailable()) {
			contenders.add(new LanceContender("lance",
					List.of(work, String.valueOf(data.batches()), String.valueOf(data.distinctBatches()))));
		}
		return contenders;
	}

	private static String name(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
