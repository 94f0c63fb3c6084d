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

package org.lance.spring.source;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionStage;

import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.stream.AsyncLoop;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.GoldenFiles;

/**
 * Every golden input, on every way into the factory, has the cells of its JSON truth.
 */
class GoldenSourceTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	static List<Path> inputs() {
		return GoldenFiles.inputs();
	}

	@ParameterizedTest
	@MethodSource("inputs")
	void whenReadFromPathThenCellsEqualTheTruth(Path input) throws Exception {
		check(input, factory().fromIpc(input));
	}

	@ParameterizedTest
	@MethodSource("inputs")
	void whenReadFromInputStreamThenCellsEqualTheTruth(Path input) throws Exception {
		InputStream bytes = Files.newInputStream(input);
		check(input, factory().fromIpc(bytes));
	}

	@ParameterizedTest
	@MethodSource("inputs")
	void whenFedInChunksThenCellsEqualTheTruth(Path input) throws Exception {
		byte[] bytes = Files.readAllBytes(input);
		for (int chunk : new int[] { 1, 7, 64 * 1024 }) {
			try (IpcFeed feed = factory().ipcFeed()) {
				feed(feed, bytes, chunk);
				check(input, feed.source());
			}
		}
	}

	private StreamingWriteSourceFactory factory() {
		return new StreamingWriteSourceFactory(this.engine.allocator(), this.engine.background(1), 1);
	}

	private static void check(Path input, CompletionStage<StreamingWriteSource> stage) throws Exception {
		try (StreamingWriteSource source = EngineExtension.await(stage)) {
			Schema schema = source.arrowSchema();
			RecordBatchStream stream = source.intoStream();
			List<RecordBatch> batches = EngineExtension.await(stream.collect());
			try {
				GoldenFiles.assertEqual(GoldenFiles.name(input), schema, batches);
			}
			finally {
				batches.forEach(RecordBatch::close);
			}
		}
	}

	/**
	 * Feeds all bytes, each chunk when the last one was taken; needs no thread.
	 */
	static CompletionStage<Void> feed(IpcFeed feed, byte[] bytes, int chunk) {
		int[] position = { 0 };
		return AsyncLoop.repeat(() -> {
			if (position[0] == bytes.length) {
				return feed.complete().thenApply((done) -> false);
			}
			int length = Math.min(chunk, bytes.length - position[0]);
			ByteBuffer next = ByteBuffer.wrap(bytes, position[0], length);
			position[0] += length;
			return feed.feed(next).thenApply((done) -> true);
		});
	}

}
