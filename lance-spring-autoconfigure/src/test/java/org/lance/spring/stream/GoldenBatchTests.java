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

package org.lance.spring.stream;

import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;

import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.GoldenFiles;

/**
 * The golden streams of other Arrow implementations, sealed.
 */
class GoldenBatchTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	static List<String> names() {
		return GoldenFiles.names();
	}

	@ParameterizedTest
	@MethodSource("names")
	void whenGoldenStreamIsSealedThenItEqualsTheTruthAfterItsReaderIsGone(String name) throws Exception {
		for (BatchSealer.Mode mode : BatchSealer.Mode.values()) {
			List<RecordBatch> batches = new ArrayList<>();
			Schema schema;
			try (RootAllocator source = new RootAllocator();
					ArrowStreamReader reader = new ArrowStreamReader(FileChannel.open(GoldenFiles.stream(name)),
							source)) {
				VectorSchemaRoot root = reader.getVectorSchemaRoot();
				schema = root.getSchema();
				try (BatchSealer sealer = new BatchSealer(schema, this.engine.allocator(), mode)) {
					while (reader.loadNextBatch()) {
						batches.add(sealer.seal(root, reader));
					}
				}
			}
			GoldenFiles.assertEqual(name, schema, batches);
			batches.forEach(RecordBatch::close);
		}
	}

	@ParameterizedTest
	@MethodSource("names")
	void whenGoldenStreamIsReadInTheBackgroundThenItEqualsTheTruth(String name) throws Exception {
		ArrowStreamReader reader = new ArrowStreamReader(FileChannel.open(GoldenFiles.stream(name)),
				this.engine.allocator());
		RecordBatchStream stream = RecordBatchStream.of(reader, this.engine.background(1), 2, this.engine.allocator());
		List<RecordBatch> batches = EngineExtension.await(stream.collect());
		GoldenFiles.assertEqual(name, stream.schema(), batches);
		batches.forEach(RecordBatch::close);
	}

}
