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
import java.nio.file.Path;

import org.lance.spring.stream.RecordBatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A spill file on a file system.
 */
final class IpcSpillFile implements SpillFile {

	private static final Logger logger = LoggerFactory.getLogger(IpcSpillFile.class);

	private final SpillFileSystem fileSystem;

	private final Path file;

	private final FileIndex index;

	private final FileWriter writer;

	private final FileReader reader;

	IpcSpillFile(SpillFileSystem fileSystem, Path file, FileIndex index, FileWriter writer, FileReader reader) {
		this.fileSystem = fileSystem;
		this.file = file;
		this.index = index;
		this.writer = writer;
		this.reader = reader;
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
		try {
			this.fileSystem.delete(this.file);
		}
		catch (IOException ex) {
			logger.warn("The spill file {} can't be deleted; its directory is removed at the end: {}", this.file,
					ex.toString());
		}
	}

	@Override
	public String toString() {
		return this.file.toString();
	}

}
