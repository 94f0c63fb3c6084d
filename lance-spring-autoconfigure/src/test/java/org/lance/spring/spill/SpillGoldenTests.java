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

import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.apache.arrow.compression.CommonsCompressionFactory;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.stream.IpcEncoder;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.GoldenFiles;

/**
 * Tests that a finished file of every type is read by us and by Arrow's own reader.
 */
class SpillGoldenTests {

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@TempDir
	Path base;

	static Stream<Arguments> tables() {
		return GoldenFiles.names()
			.stream()
			.flatMap((name) -> Stream.of(SpillCompression.NONE, SpillCompression.zstd(1))
				.map((compression) -> Arguments.of(name, compression)));
	}

	@ParameterizedTest
	@MethodSource("tables")
	void filesAreReadByUsAndByArrow(String name, SpillCompression compression) throws Exception {
		Table source = read(GoldenFiles.stream(name));
		FileSpillStore store = new FileSpillStore(() -> this.base, this.engine.allocator(), ReadMode.MAP);
		SpillFile file = store.create(name, source.schema(), fields(source), new SpillFormat(compression, false));
		source.batches().forEach(file::append);
		file.finish();
		List<RecordBatch> mapped = new ArrayList<>();
		for (int i = 0; i < file.batches(); i++) {
			mapped.add(file.read(i, Verification.ALWAYS));
		}
		GoldenFiles.assertEqual(name, source.schema(), mapped);
		Table byArrow = read(Path.of(file.toString()));
		GoldenFiles.assertEqual(name, byArrow.schema(), byArrow.batches());
		List.of(source.batches(), byArrow.batches(), mapped).forEach((batches) -> batches.forEach(RecordBatch::close));
		file.delete();
		store.close();
	}

	private static Map<Long, Field> fields(Table table) {
		return table.batches().isEmpty() ? Map.of() : IpcEncoder.fields(table.batches().get(0).dictionaries());
	}

	private Table read(Path path) throws IOException {
		List<RecordBatch> batches = new ArrayList<>();
		try (ReadableByteChannel channel = Channels.newChannel(Files.newInputStream(path));
				ArrowStreamReader reader = new ArrowStreamReader(channel, this.engine.allocator(),
						CommonsCompressionFactory.INSTANCE)) {
			while (reader.loadNextBatch()) {
				batches.add(RecordBatch.copyOf(reader.getVectorSchemaRoot(), reader, this.engine.allocator()));
			}
			return new Table(reader.getVectorSchemaRoot().getSchema(), batches);
		}
	}

	private record Table(Schema schema, List<RecordBatch> batches) {

	}

}
