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

package org.lance.spring.docs;

import java.io.InputStream;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

import org.lance.spring.source.StreamingWriteSourceFactory;
import org.lance.spring.spill.SpillManager;
import org.lance.spring.spill.SpillReceiver;

import org.springframework.stereotype.Service;

/**
 * The example of the README.
 */
// example
@Service
class Deliveries {

	private final StreamingWriteSourceFactory sources;

	private final SpillManager spills;

	Deliveries(StreamingWriteSourceFactory sources, SpillManager spills) {
		this.sources = sources;
		this.spills = spills;
	}

	CompletionStage<Long> countTwice(InputStream arrow) {
		return this.sources.fromIpc(arrow).thenCompose((source) -> {
			SpillReceiver spill = this.spills.spill(source);
			return rows(spill).thenCombine(rows(spill), Long::sum).whenComplete((sum, failure) -> spill.close());
		});
	}

	private CompletionStage<Long> rows(SpillReceiver spill) {
		AtomicLong rows = new AtomicLong();
		return spill.read().forEach((batch) -> {
			try (batch) {
				rows.addAndGet(batch.rowCount());
			}
		}).thenApply((done) -> rows.get());
	}

}
