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

import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.RecordBatch;

/**
 * A spill file on a file system.
 */
final class IpcSpillFile implements SpillFile {

	private final Path file;

	private final @Nullable Object key;

	private final FileSpace space;

	private final FileIndex index;

	private final FileWriter writer;

	private final FileReader reader;

	private final UndeletedFiles undeleted;

	IpcSpillFile(Path file, @Nullable Object key, FileSpace space, FileIndex index, FileWriter writer,
			FileReader reader, UndeletedFiles undeleted) {
		this.file = file;
		this.key = key;
		this.space = space;
		this.index = index;
		this.writer = writer;
		this.reader = reader;
		this.undeleted = undeleted;
	}

	@Override
	public void append(RecordBatch batch) {
		this.writer.append(batch);
	}

	@Override
	public void finish() {
		this.writer.finish();
	}

	@Override
	public int batches() {
		return this.index.batches();
	}

	@Override
	public long bytes() {
		return this.writer.written();
	}

	@Override
	public long length(int index) {
		return this.index.batch(index).length();
	}

	@Override
	public RecordBatch read(int index, Verification verification) {
		return this.reader.read(index, verification);
	}

	@Override
	public void delete() {
		this.writer.close();
		this.reader.close();
		this.undeleted.delete(this.file, this.key, this.space);
	}

	@Override
	public String toString() {
		return this.file.toString();
	}

}
