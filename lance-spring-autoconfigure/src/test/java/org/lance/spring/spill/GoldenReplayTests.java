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

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.source.StreamingWriteSourceFactory;
import org.lance.spring.stream.ArrowDataException;
import org.lance.spring.stream.Failures;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.GoldenFiles;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every golden input, from the factory through a spill, has the cells of its JSON truth
 * for readers opened before, during and after writing; every malformed input ends in a
 * typed error or a normal end.
 */
class GoldenReplayTests {

	private static final long UNLIMITED = 1L << 40;

	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@TempDir
	Path directory;

	private SpillManager manager;

	static Stream<Arguments> goldenInputs() {
		return GoldenFiles.inputs().stream().flatMap((input) -> Stream.concat(plain(input), transformed(input)));
	}

	private static Stream<Arguments> plain(Path input) {
		return Stream.of(0L, 1024L, UNLIMITED)
			.flatMap((limit) -> Stream.of(ReadMode.values())
				.map((mode) -> Arguments.of(input, limit, mode, SpillFormat.PLAIN)));
	}

	private static Stream<Arguments> transformed(Path input) {
		SpillCompression zstd = SpillCompression.zstd(1);
		return Stream
			.of(new SpillFormat(zstd, false), new SpillFormat(SpillCompression.NONE, true), new SpillFormat(zstd, true))
			.map((format) -> Arguments.of(input, 0, ReadMode.MAP, format));
	}

	static List<Path> malformedInputs() {
		return GoldenFiles.malformed();
	}

	@ParameterizedTest
	@MethodSource("goldenInputs")
	void whenReplayedBeforeDuringAndAfterThenCellsEqualTheTruth(Path input, long limit, ReadMode mode,
			SpillFormat format) throws Exception {
		try (SpillManager spills = manager(limit, mode, format);
				StreamingWriteSource source = EngineExtension.await(factory().fromIpc(input));
				ReplaySpill spill = spills.createReplaySpill(source.arrowSchema())) {
			Schema schema = source.arrowSchema();
			SpillSender sender = spill.sender();
			CompletionStage<List<RecordBatch>> before = spill.receiver().read().collect();
			CompletionStage<List<RecordBatch>> during = null;
			RecordBatchStream batches = source.intoStream();
			for (var batch = EngineExtension.await(batches.next()); batch
				.isPresent(); batch = EngineExtension.await(batches.next())) {
				try (RecordBatch next = batch.get()) {
					EngineExtension.await(sender.write(next));
				}
				if (during == null) {
					during = spill.receiver().read().collect();
				}
			}
			EngineExtension.await(sender.finish());
			check(input, schema, before);
			check(input, schema, (during != null) ? during : spill.receiver().read().collect());
			check(input, schema, spill.receiver().read().collect());
		}
		EngineExtension.await(this.manager.closed());
		assertThat(this.directory).isEmptyDirectory();
	}

	@ParameterizedTest
	@MethodSource("malformedInputs")
	void whenInputIsMalformedThenReadersGetATypedErrorOrTheEnd(Path input) throws Exception {
		try (SpillManager spills = manager(0, ReadMode.MAP, SpillFormat.PLAIN)) {
			try {
				StreamingWriteSource source = EngineExtension.await(factory().fromIpc(input));
				try (SpillReceiver spill = spills.spill(source)) {
					EngineExtension.await(spill.read().forEach(RecordBatch::close));
				}
			}
			catch (Exception ex) {
				Throwable failure = Failures.unwrap(ex);
				Throwable reason = (failure instanceof SpillSourceFailedException) ? failure.getCause() : failure;
				assertThat(reason).isInstanceOf(ArrowDataException.class);
			}
		}
		EngineExtension.await(this.manager.closed());
		assertThat(this.directory).isEmptyDirectory();
	}

	private SpillManager manager(long limit, ReadMode mode, SpillFormat format) throws Exception {
		this.manager = SpillManager.builder(this.engine.allocator(), this.engine.pool(1))
			.directories(List.of(Files.createDirectories(this.directory)))
			.memoryLimit(limit)
			.totalMemoryLimit(UNLIMITED)
			.readMode(mode)
			.compression(format.compression())
			.encryption(format.encrypted())
			.build();
		return this.manager;
	}

	private StreamingWriteSourceFactory factory() {
		return new StreamingWriteSourceFactory(this.engine.allocator(), this.engine.background(1), 1);
	}

	private static void check(Path input, Schema schema, CompletionStage<List<RecordBatch>> replay) throws Exception {
		List<RecordBatch> batches = new ArrayList<>(EngineExtension.await(replay));
		try {
			GoldenFiles.assertEqual(GoldenFiles.name(input), schema, batches);
		}
		finally {
			batches.forEach(RecordBatch::close);
		}
	}

}
