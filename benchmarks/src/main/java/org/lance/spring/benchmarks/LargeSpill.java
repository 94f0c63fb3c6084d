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

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

import com.sun.management.OperatingSystemMXBean;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.lance.spring.spill.ReplaySpill;
import org.lance.spring.spill.SpillOptions;
import org.lance.spring.spill.SpillSender;
import org.lance.spring.stream.RecordBatch;

/**
 * Prints what memory a large spill takes. The allocator has no more than the limit of the
 * spill and two batches. Arguments: the number of GiB, the limit in MiB and the number of
 * readers.
 *
 * @since 0.1.0
 */
public final class LargeSpill {

	private static final DataSet DATA = DataSet.NUMBERS;

	/**
	 * After each of these parts of the writing the anonymous memory is told.
	 */
	private static final int PARTS = 5;

	/**
	 * How often each reader reads everything.
	 */
	private static final int PASSES = 3;

	private LargeSpill() {
	}

	/**
	 * Runs it.
	 * @param args see above
	 * @throws InterruptedException if this thread is interrupted
	 */
	public static void main(String[] args) throws InterruptedException {
		int batches = Integer.parseInt(args[0]) * DATA.batches();
		long limit = Long.parseLong(args[1]) << 20;
		int readers = Integer.parseInt(args[2]);
		List<VectorSchemaRoot> sources = new ArrayList<>();
		try (RootAllocator outside = Batches.allocator(Long.MAX_VALUE); Directory directory = new Directory()) {
			for (int i = 0; i < DATA.distinctBatches(); i++) {
				sources.add(DATA.create(i, outside));
			}
			long batchBytes = batchBytes(sources.get(0), outside);
			try (RootAllocator allocator = Batches.allocator(limit + 2 * batchBytes)) {
				run(batches, limit, readers, sources, allocator, directory, batchBytes);
			}
			sources.forEach(VectorSchemaRoot::close);
		}
	}

	private static long batchBytes(VectorSchemaRoot source, RootAllocator allocator) {
		long before = allocator.getAllocatedMemory();
		try (RecordBatch batch = RecordBatch.copyOf(source, null, allocator)) {
			return allocator.getAllocatedMemory() - before;
		}
	}

	private static void run(int batches, long limit, int readers, List<VectorSchemaRoot> sources,
			RootAllocator allocator, Directory directory, long batchBytes) throws InterruptedException {
		try (Engine engine = new Engine(allocator, directory.path());
				ReplaySpill spill = engine.manager()
					.createReplaySpill(DATA.schema(), SpillOptions.DEFAULTS.withMemoryLimit(limit));
				ResidentMemory memory = new ResidentMemory()) {
			SpillSender sender = spill.sender();
			List<Long> anonymous = new ArrayList<>();
			for (int i = 0; i < PARTS; i++) {
				write(batches * i / PARTS, batches * (i + 1) / PARTS, sender, sources, allocator);
				anonymous.add(memory.takeAnonymous());
			}
			Engine.await(sender.finish());
			long sum = 0;
			for (int i = 0; i < PASSES; i++) {
				sum = replay(spill, readers, allocator);
				anonymous.add(memory.takeAnonymous());
			}
			memory.stop();
			System.out.printf(
					"{\"spillBytes\":%d,\"memoryLimit\":%d,\"batchBytes\":%d,\"peakArrowBytes\":%d,"
							+ "\"rssAnon\":%s,\"rssFileMax\":%d,\"memory\":%d,\"readers\":%d,\"sum\":%d}%n",
					spill.snapshot().diskBytes(), limit, batchBytes, allocator.getPeakMemoryAllocation(), anonymous,
					memory.maxFile(), totalMemory(), readers, sum);
			Engine.close(spill);
		}
	}

	/**
	 * The memory of the machine or control group, of which a part decides how many
	 * windows stay mapped.
	 */
	private static long totalMemory() {
		return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
	}

	private static void write(int from, int to, SpillSender sender, List<VectorSchemaRoot> sources,
			RootAllocator allocator) {
		for (int i = from; i < to; i++) {
			try (RecordBatch batch = RecordBatch.copyOf(sources.get(i % sources.size()), null, allocator)) {
				Engine.await(sender.write(batch));
			}
		}
	}

	private static long replay(ReplaySpill spill, int readers, RootAllocator allocator) {
		AtomicLong sum = new AtomicLong();
		List<CompletionStage<Void>> ends = new ArrayList<>();
		for (int i = 0; i < readers; i++) {
			ends.add(spill.receiver().read().forEach((batch) -> {
				try (batch) {
					sum.addAndGet(Words.sum(batch, allocator));
				}
			}));
		}
		ends.forEach(Engine::await);
		return sum.get();
	}

}
