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

package org.lance.spring.source;

import java.util.Map;
import java.util.concurrent.CompletionStage;

import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.RecordBatchStream;
import org.lance.spring.stream.SizeHint;

/**
 * A source of record batches to be written, whatever it was made from: single use, with a
 * schema that is known before anything is consumed.
 * <p>
 * <b>Ownership.</b> Whoever has the source closes it, or hands it on:
 * {@link #intoStream()} and {@link #intoStreamAndSchema()} move what is behind it into
 * the stream, whose consumer closes that. Closing a source that was moved does nothing.
 * <b>Threads.</b> Any, one at a time.
 * <p>
 * Counterpart of {@code StreamingWriteSource} of Lance's DataFusion integration.
 *
 * @since 0.1.0
 */
public interface StreamingWriteSource extends AutoCloseable {

	/**
	 * Returns the Arrow schema, without consuming anything.
	 * @return the schema in memory format: dictionary columns have their index type
	 */
	Schema arrowSchema();

	/**
	 * Returns the value fields of the dictionaries, by id, as far as they are known.
	 * @return the fields, in memory format
	 */
	default Map<Long, Field> dictionaryFields() {
		return Map.of();
	}

	/**
	 * Returns how many batches are to come.
	 * @return the hint
	 */
	default SizeHint sizeHint() {
		return SizeHint.UNKNOWN;
	}

	/**
	 * Moves the source into its stream. The streams of sources that
	 * {@link StreamingWriteSourceFactory} makes end with their first failure.
	 * @return the stream, owned by the caller
	 * @throws IllegalStateException if the source was used or closed before
	 */
	RecordBatchStream intoStream();

	/**
	 * Moves the source into its stream and finds out its Lance schema. Peeks the first
	 * batch without losing it, takes the dictionaries of dictionary columns from it
	 * (nested ones too, also when the first batch has none) and validates the schema.
	 * @return the stage of both; it fails with an
	 * {@link org.lance.spring.stream.ArrowDataException} that names the field path if
	 * Lance could not store the schema, and the stream is closed then
	 * @throws IllegalStateException if the source was used or closed before
	 */
	CompletionStage<StreamAndSchema> intoStreamAndSchema();

	/**
	 * Closes a source that was not moved. Never blocks.
	 */
	@Override
	void close();

	/**
	 * Makes a source of an existing stream, passed through without another hop.
	 * @param stream the stream, taken over
	 * @return the source
	 */
	static StreamingWriteSource of(RecordBatchStream stream) {
		return new StreamSource(stream);
	}

}
