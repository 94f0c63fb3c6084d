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

import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.IpcEncoder;
import org.lance.spring.stream.RecordBatch;

/**
 * Encodes the batches that are small enough to be packed. One thread at a time.
 */
final class PackedEncoder {

	/**
	 * The largest batch that is packed: a copy of more would cost more than the objects
	 * that it saves.
	 */
	static final int MAX_LENGTH = 16 << 10;

	/**
	 * About what each buffer and each column take in the metadata of a message.
	 */
	private static final int METADATA_PER_PART = 16;

	private final Schema schema;

	private @Nullable IpcEncoder encoder;

	private boolean impossible;

	PackedEncoder(Schema schema) {
		this.schema = schema;
	}

	/**
	 * Tells whether a batch is small enough, about.
	 */
	static boolean isSmall(RecordBatch batch) {
		ArrowRecordBatch body = batch.body();
		long parts = (long) body.getBuffers().size() + body.getNodes().size();
		return body.computeBodyLength() + METADATA_PER_PART * parts <= MAX_LENGTH;
	}

	/**
	 * Encodes a batch.
	 * @param batch the batch, borrowed
	 * @return the message, valid while the batch is held, or {@code null} if the batch is
	 * not to be packed
	 */
	IpcEncoder.@Nullable Message encode(RecordBatch batch) {
		if (this.impossible || !isSmall(batch)) {
			return null;
		}
		if (this.encoder == null) {
			this.encoder = encoder(IpcEncoder.fields(batch.dictionaries()));
			if (this.encoder == null) {
				this.impossible = true;
				return null;
			}
		}
		return this.encoder.batch(batch);
	}

	private @Nullable IpcEncoder encoder(Map<Long, Field> dictionaryFields) {
		IpcEncoder made = new IpcEncoder(this.schema);
		try {
			made.schema(dictionaryFields);
			return made;
		}
		catch (IllegalArgumentException ex) {
			// Not to be said in the IPC format, which only a file has to.
			return null;
		}
	}

}
