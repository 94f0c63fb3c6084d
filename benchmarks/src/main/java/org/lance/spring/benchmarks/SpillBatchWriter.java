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

import org.lance.spring.spill.ReplaySpill;
import org.lance.spring.spill.SpillOptions;
import org.lance.spring.spill.Verification;

/**
 * Writes a spill that goes to disk from its first batch on.
 */
final class SpillBatchWriter implements BatchWriter {

	private final Batches batches;

	private final Engine engine;

	private final Verification verification;

	private ReplaySpill spill;

	SpillBatchWriter(Batches batches, Directory directory, Verification verification) {
		this.verification = verification;
		this.batches = batches;
		this.engine = new Engine(batches.allocator(), directory.path());
	}

	@Override
	public void write() {
		this.spill = this.engine.manager()
			.createReplaySpill(this.batches.schema(),
					SpillOptions.DEFAULTS.withMemoryLimit(0).withVerification(this.verification));
		Engine.write(this.spill, this.batches);
	}

	@Override
	public void remove() {
		Engine.close(this.spill);
	}

	@Override
	public void close() {
		this.engine.close();
	}

}
