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

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Encodes record batches as the messages of one Arrow IPC stream, without copying their
 * buffers. A dictionary is encoded again only when its version changed, and a version
 * that continues the encoded one as a delta.
 * <p>
 * The byte buffers of a message alias the memory of its batch: they are valid while the
 * batch is held. <b>Threads.</b> One at a time.
 *
 * @since 0.1.0
 */
public final class IpcEncoder implements AutoCloseable {

	/**
	 * Creates an encoder.
	 * @param schema the schema of all batches, in memory format
	 */
	public IpcEncoder(Schema schema) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Encodes the schema message; must come first, once.
	 * @param dictionaryFields the value fields of the dictionaries, by id
	 * @return the message
	 */
	public Message schema(Map<Long, Field> dictionaryFields) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Encodes what a batch needs before it: the dictionary versions that are new.
	 * @param batch the batch, borrowed
	 * @return the messages, none if no dictionary changed
	 */
	public List<DictionaryMessage> dictionaries(RecordBatch batch) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Encodes a batch.
	 * @param batch the batch, borrowed
	 * @return the message
	 */
	public Message batch(RecordBatch batch) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Encodes the end marker. Only for a stream that is complete.
	 * @return the message
	 */
	public Message end() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns the value fields that the dictionaries of a batch have.
	 * @param versions the versions
	 * @return the fields by id
	 */
	public static Map<Long, Field> fields(Collection<DictionaryVersion> versions) {
		throw new UnsupportedOperationException();
	}

	@Override
	public void close() {
		throw new UnsupportedOperationException();
	}

	/**
	 * One encapsulated message.
	 *
	 * @param buffers its bytes in order, aliasing the batch; padded to 8 bytes
	 * @param metadataLength the bytes of marker, length and metadata with its padding
	 * @param bodyLength the bytes of the body with its padding
	 * @since 0.1.0
	 */
	public record Message(List<ByteBuffer> buffers, int metadataLength, long bodyLength) {

		/**
		 * Returns the length of the whole message.
		 * @return the bytes
		 */
		public long length() {
			return this.metadataLength + this.bodyLength;
		}

	}

	/**
	 * The message of a dictionary version.
	 *
	 * @param version the version, borrowed from the batch
	 * @param delta whether it is encoded as a delta
	 * @param message the message
	 * @since 0.1.0
	 */
	public record DictionaryMessage(DictionaryVersion version, boolean delta, Message message) {

	}

}
