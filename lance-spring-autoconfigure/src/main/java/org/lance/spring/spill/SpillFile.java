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

import java.util.Map;

import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.RecordBatch;

/**
 * The file of one spill: an Arrow IPC stream that grows batch by batch, with an index in
 * memory. All methods that touch the disk block: they run on the spill executor only.
 * <p>
 * One thread appends at a time; any number may read committed batches meanwhile.
 */
interface SpillFile {

	/**
	 * Appends a batch and commits it: when this returns, {@link #batches()} counts it.
	 * After a failure the file takes nothing more.
	 * @throws SpillException if it can't be written
	 */
	void append(RecordBatch batch);

	/**
	 * Writes the end marker. Afterwards any Arrow client can read the file, unless it is
	 * encrypted.
	 */
	void finish();

	/**
	 * Returns the number of committed batches. Never blocks.
	 */
	int batches();

	/**
	 * Returns the bytes of the file. Never blocks.
	 */
	long bytes();

	/**
	 * Returns the bytes that a committed batch takes in the file, without its
	 * dictionaries. Never blocks.
	 */
	long length(int index);

	/**
	 * Reads a committed batch.
	 * @return the batch, owned by the caller; valid also after {@link #delete()}
	 * @throws SpillException if it can't be read or is not what was written
	 */
	RecordBatch read(int index, Verification verification);

	/**
	 * Closes and deletes the file; called once, when no other call is in progress and
	 * none will come. Never throws: what could not be deleted is logged and tried again.
	 */
	void delete();

	/**
	 * Makes spill files. The directory is made on first use. All methods block: they run
	 * on the spill executor only.
	 */
	interface Store {

		/**
		 * Creates a file and writes the schema.
		 * @param name the name of the spill
		 * @param dictionaryFields the value fields of the dictionaries of {@code schema}
		 * @param format what its messages are turned into
		 * @throws SpillException if it can't be created
		 */
		SpillFile create(String name, Schema schema, Map<Long, Field> dictionaryFields, SpillFormat format);

		/**
		 * Returns the disk space that all files of this store may take and do take. Never
		 * blocks.
		 */
		ByteBudget budget();

		/**
		 * Removes what dead processes left behind. Never throws: what could not be
		 * removed is logged.
		 * @return how many directories were removed
		 */
		int reclaim();

		/**
		 * Removes the directory of this store; called once, when all files are deleted.
		 * Never throws: what could not be removed is logged.
		 */
		void close();

	}

}
