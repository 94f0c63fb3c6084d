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

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.RecordBatch;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The spill files of one test, with what tests do with them. Closing deletes them and
 * checks that nothing is left.
 */
final class TestFiles implements AutoCloseable {

	private static final long WINDOW = 1 << 20;

	final Batches batches;

	private final BufferAllocator allocator;

	private final Path base;

	private final SpillFileSystem fileSystem;

	private final List<SpillFile> files = new ArrayList<>();

	private @Nullable FileSpillStore store;

	TestFiles(BufferAllocator allocator, Path base, SpillFileSystem fileSystem) {
		this.batches = new Batches(allocator);
		this.allocator = allocator;
		this.base = base;
		this.fileSystem = fileSystem;
	}

	/**
	 * Windows of a size, of which each file keeps a few and no more.
	 */
	static Supplier<WindowPolicy> windows(long size) {
		return () -> new WindowPolicy(size, ByteBudget.NONE);
	}

	/**
	 * Creates a file; all of one test have the same read mode.
	 */
	SpillFile create(Schema schema, SpillFormat format, ReadMode readMode) {
		if (this.store == null) {
			this.store = new FileSpillStore(() -> this.base, this.allocator, readMode, this.fileSystem,
					windows(WINDOW));
		}
		SpillFile file = this.store.create("test", schema, Map.of(), format);
		this.files.add(file);
		return file;
	}

	/**
	 * Creates a file of {@link Batches}.
	 */
	SpillFile create(SpillFormat format) {
		return create(Batches.SCHEMA, format, ReadMode.MAP);
	}

	/**
	 * Appends a batch and closes it.
	 */
	void append(SpillFile file, RecordBatch batch) {
		try (batch) {
			file.append(batch);
		}
	}

	/**
	 * Reads a batch of {@link Batches}.
	 */
	List<Long> read(SpillFile file, int index) {
		return this.batches.take(file.read(index, Verification.ALWAYS));
	}

	void delete(SpillFile file) {
		this.files.remove(file);
		file.delete();
	}

	@Override
	public void close() {
		this.files.forEach(SpillFile::delete);
		if (this.store != null) {
			this.store.close();
		}
		assertThat(this.base).isEmptyDirectory();
	}

}
