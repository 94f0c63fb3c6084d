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

package org.lance.spring.sample.tables;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.lance.spring.dataset.LanceDatasetExistsException;
import org.lance.spring.dataset.LanceDatasetNotFoundException;
import org.lance.spring.dataset.LanceOperations;
import org.lance.spring.dataset.LanceWriteMode;
import org.lance.spring.source.IpcFeed;
import org.lance.spring.source.StreamingWriteSourceFactory;
import org.lance.spring.spill.SpillManager;
import org.lance.spring.spill.SpillOptions;
import org.lance.spring.spill.SpillReceiver;
import org.lance.spring.spill.SpillSnapshot;
import org.lance.spring.stream.Failures;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.stereotype.Component;

/**
 * Stores uploads in tables. All of an upload is in a spill before Lance hears of it: a
 * client that is slow holds no writer, and one that goes away leaves nothing.
 */
@Component
class Uploads {

	private final StreamingWriteSourceFactory sources;

	private final SpillManager spills;

	private final LanceOperations lance;

	private final TableDirectory tables;

	private final UploadShutdown shutdown;

	Uploads(StreamingWriteSourceFactory sources, SpillManager spills, LanceOperations lance, TableDirectory tables,
			UploadShutdown shutdown) {
		this.sources = sources;
		this.spills = spills;
		this.lance = lance;
		this.tables = tables;
		this.shutdown = shutdown;
	}

	/**
	 * Creates a table, or appends to it.
	 * @param name the table's name
	 * @param body the Arrow IPC data, stream or file
	 * @return what came of it, once it is stored
	 */
	Mono<UploadResult> store(TableName name, Flux<DataBuffer> body) {
		return Mono.defer(() -> {
			long start = System.nanoTime();
			return Mono.using(
					() -> open(name), (
							upload) -> upload.receive(body)
								.takeUntilOther(this.shutdown.refusal())
								.flatMap((spill) -> Mono.fromCompletionStage(() -> write(name, spill))
									.map((written) -> result(name, upload, spill.snapshot(), written, start))),
					Upload::close);
		});
	}

	private Upload open(TableName name) {
		IpcFeed feed = this.sources.ipcFeed();
		CompletionStage<SpillReceiver> spill = feed.source()
			.thenApply((source) -> this.spills.spill(source, SpillOptions.DEFAULTS.withName(name.value())));
		return new Upload(feed, spill);
	}

	/**
	 * Appends, or creates the table if there is none. Between the two another upload may
	 * have created it: then this one appends after all, from the spill, which can be read
	 * again.
	 */
	private CompletionStage<Written> write(TableName name, SpillReceiver spill) {
		return write(name, spill, LanceWriteMode.APPEND)
			.exceptionallyCompose((failure) -> (Failures.unwrap(failure) instanceof LanceDatasetNotFoundException)
					? create(name, spill) : CompletableFuture.failedStage(failure));
	}

	private CompletionStage<Written> create(TableName name, SpillReceiver spill) {
		return write(name, spill, LanceWriteMode.CREATE)
			.exceptionallyCompose((failure) -> (Failures.unwrap(failure) instanceof LanceDatasetExistsException)
					? write(name, spill, LanceWriteMode.APPEND) : CompletableFuture.failedStage(failure));
	}

	private CompletionStage<Written> write(TableName name, SpillReceiver spill, LanceWriteMode mode) {
		return this.lance.write(this.tables.uri(name), spill.source(), mode)
			.thenApply((result) -> new Written(mode == LanceWriteMode.CREATE, result.version()));
	}

	private static UploadResult result(TableName name, Upload upload, SpillSnapshot spill, Written written,
			long start) {
		return new UploadResult(name.value(), written.created(), spill.rows(), spill.batches(), upload.bytes(),
				spill.diskBytes(), written.version(), (System.nanoTime() - start) / 1_000_000);
	}

	/**
	 * What was written.
	 *
	 * @param created whether the table is new
	 * @param version the version of the table
	 */
	private record Written(boolean created, long version) {

	}

}
