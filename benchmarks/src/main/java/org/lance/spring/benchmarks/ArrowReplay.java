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
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;

/**
 * Reads a file with Arrow's own reader, straight from the channel of the file.
 */
final class ArrowReplay implements BatchReplay {

	private final BufferAllocator allocator;

	private final Path file;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	ArrowReplay(Batches batches, Directory directory) throws IOException {
		this.allocator = batches.allocator();
		this.file = directory.newFile();
		try (VectorSchemaRoot root = VectorSchemaRoot.create(batches.schema(), batches.allocator())) {
			ArrowBatchWriter.write(batches, root, this.file);
		}
	}

	@Override
	public long read(int readers) throws IOException {
		if (readers == 1) {
			return read();
		}
		List<Future<Long>> sums = new ArrayList<>();
		for (int i = 0; i < readers; i++) {
			sums.add(this.threads.submit(() -> read()));
		}
		long sum = 0;
		for (Future<Long> each : sums) {
			sum += get(each);
		}
		return sum;
	}

	private long read() throws IOException {
		try (FileChannel channel = FileChannel.open(this.file, StandardOpenOption.READ);
				ArrowStreamReader reader = new ArrowStreamReader(channel, this.allocator)) {
			VectorSchemaRoot root = reader.getVectorSchemaRoot();
			long sum = 0;
			while (reader.loadNextBatch()) {
				sum += Words.sum(root);
			}
			return sum;
		}
	}

	private static long get(Future<Long> sum) throws IOException {
		try {
			return sum.get();
		}
		catch (ExecutionException ex) {
			throw new IOException(ex.getCause());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IOException(ex);
		}
	}

	@Override
	public void close() {
		this.threads.shutdown();
	}

}
