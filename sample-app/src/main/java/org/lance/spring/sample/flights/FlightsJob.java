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

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.apache.arrow.memory.BufferAllocator;
import org.lance.spring.dataset.LanceOperations;
import org.lance.spring.dataset.LanceWriteMode;
import org.lance.spring.dataset.LanceWriteResult;
import org.lance.spring.sample.SampleProperties;
import org.lance.spring.sample.tables.TableDirectory;
import org.lance.spring.sample.tables.TableName;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.source.StreamingWriteSourceFactory;
import org.lance.spring.spill.SpillManager;
import org.lance.spring.spill.SpillOptions;
import org.lance.spring.spill.SpillReceiver;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.core.io.Resource;
import org.springframework.stereotype.Component;

/**
 * Reads the bundled file once, and uses its batches twice at the same time: one reader of
 * the spill writes a Lance table, the other adds the flights up.
 */
@Component
class FlightsJob {

	static final TableName TABLE = new TableName("flights");

	private final Resource file;

	private final SampleProperties properties;

	private final StreamingWriteSourceFactory sources;

	private final SpillManager spills;

	private final LanceOperations lance;

	private final TableDirectory tables;

	private final BufferAllocator allocator;

	FlightsJob(@Value("classpath:data/flights-200k.arrow") Resource file, SampleProperties properties,
			StreamingWriteSourceFactory sources, SpillManager spills, LanceOperations lance, TableDirectory tables,
			BufferAllocator allocator) {
		this.file = file;
		this.properties = properties;
		this.sources = sources;
		this.spills = spills;
		this.lance = lance;
		this.tables = tables;
		this.allocator = allocator;
	}

	/**
	 * Starts the job, which replaces the table of an earlier start. Never blocks.
	 * @return the stage of the result
	 */
	CompletionStage<FlightsResult> run() {
		long start = System.nanoTime();
		return source().thenCompose(this::spill)
			.thenApply((outcome) -> outcome.after((System.nanoTime() - start) / 1_000_000));
	}

	private CompletionStage<StreamingWriteSource> source() {
		try {
			return this.sources.fromIpc(this.file.getInputStream());
		}
		catch (IOException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private CompletionStage<Outcome> spill(StreamingWriteSource source) {
		SpillReceiver spill = this.spills.spill(source, SpillOptions.DEFAULTS.withName(TABLE.value())
			.withMemoryLimit(this.properties.spillMemoryLimit().toBytes()));
		return CompletableFuture.completedStage(spill)
			.thenCompose(this::readTwice)
			.whenComplete((outcome, failure) -> spill.close());
	}

	private CompletionStage<Outcome> readTwice(SpillReceiver spill) {
		CompletionStage<LanceWriteResult> written = this.lance.write(this.tables.uri(TABLE), spill.source(),
				LanceWriteMode.OVERWRITE);
		FlightCounter counter = new FlightCounter(this.allocator);
		CompletionStage<FlightSummary> counted = spill.read()
			.forEach(counter::add)
			.thenApply((done) -> counter.summary());
		return written.thenCombine(counted,
				(result, summary) -> new Outcome(summary, result.version(), spill.snapshot().diskBytes()));
	}

	/**
	 * What both readers came to.
	 */
	private record Outcome(FlightSummary summary, long version, long spilledBytes) {

		FlightsResult after(long millis) {
			return new FlightsResult(TABLE.value(), this.summary.rows(), this.spilledBytes, this.version, millis,
					this.summary);
		}

	}

}
