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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

import org.lance.spring.spill.ReplaySpill;
import org.lance.spring.spill.SpillOptions;
import org.lance.spring.spill.Verification;

/**
 * Replays a complete spill on disk.
 */
final class SpillReplay implements BatchReplay {

	private final Batches batches;

	private final Engine engine;

	private final ReplaySpill spill;

	SpillReplay(Batches batches, Directory directory, Verification verification) {
		this.batches = batches;
		this.engine = new Engine(batches.allocator(), directory.path());
		this.spill = this.engine.manager()
			.createReplaySpill(batches.schema(),
					SpillOptions.DEFAULTS.withMemoryLimit(0).withVerification(verification));
		Engine.write(this.spill, batches);
	}

	@Override
	public long read(int readers) {
		AtomicLong sum = new AtomicLong();
		List<CompletionStage<Void>> ends = new ArrayList<>();
		for (int i = 0; i < readers; i++) {
			ends.add(this.spill.receiver().read().forEach((batch) -> {
				try (batch) {
					sum.addAndGet(Words.sum(batch, this.batches.allocator()));
				}
			}));
		}
		ends.forEach(Engine::await);
		return sum.get();
	}

	@Override
	public void close() {
		Engine.close(this.spill);
		this.engine.close();
	}

}
