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

import org.apache.arrow.memory.RootAllocator;
import org.lance.spring.spill.ReplaySpill;

/**
 * Prints what very many batches of one row hold on the heap. Arguments: their number and
 * their place.
 *
 * @since 0.1.0
 */
public final class SmallBatchesHeap {

	private SmallBatchesHeap() {
	}

	/**
	 * Runs it.
	 * @param args see above
	 */
	public static void main(String[] args) {
		int count = Integer.parseInt(args[0]);
		SmallBatches.Place place = SmallBatches.Place.valueOf(args[1]);
		try (Directory directory = new Directory(); RootAllocator allocator = Batches.allocator(Long.MAX_VALUE)) {
			try (Engine engine = new Engine(allocator, directory.path())) {
				ReplaySpill spill = SmallBatches.write(count, place, engine.manager(), allocator);
				SmallBatches.replay(spill, count);
				long live = liveHeap();
				System.out.printf("{\"batches\":%d,\"liveHeapBytes\":%d,\"memoryBytes\":%d,\"diskBytes\":%d}%n", count,
						live, spill.snapshot().memoryBytes(), spill.snapshot().diskBytes());
				Engine.close(spill);
			}
		}
	}

	private static long liveHeap() {
		for (int i = 0; i < 3; i++) {
			System.gc();
		}
		return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
	}

}
