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

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;

/**
 * Writes with Arrow's own writer, straight into the channel of the file.
 */
final class ArrowBatchWriter implements BatchWriter {

	private final Batches batches;

	private final Directory directory;

	private final VectorSchemaRoot root;

	private Path file;

	ArrowBatchWriter(Batches batches, Directory directory) {
		this.batches = batches;
		this.directory = directory;
		this.root = VectorSchemaRoot.create(batches.schema(), batches.allocator());
		this.file = directory.newFile();
	}

	@Override
	public void write() throws IOException {
		write(this.batches, this.root, this.file);
	}

	static void write(Batches batches, VectorSchemaRoot root, Path file) throws IOException {
		VectorLoader loader = new VectorLoader(root);
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
				ArrowStreamWriter writer = new ArrowStreamWriter(root, null, channel)) {
			writer.start();
			for (int i = 0; i < batches.size(); i++) {
				loader.load(batches.get(i).body());
				writer.writeBatch();
			}
			writer.end();
			root.clear();
		}
	}

	@Override
	public void remove() throws IOException {
		Files.delete(this.file);
		this.file = this.directory.newFile();
	}

	@Override
	public void close() {
		this.root.close();
	}

}
