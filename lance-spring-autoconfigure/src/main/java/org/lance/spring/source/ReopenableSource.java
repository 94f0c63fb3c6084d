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

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.apache.arrow.vector.types.pojo.Schema;

/**
 * A source of record batches that can be opened any number of times and gives the same
 * batches each time, such as a file, or a spill of a source that could be read once.
 * Whatever has to read twice needs no spill for it.
 * <p>
 * <b>Ownership.</b> Whoever has it closes it; each source that it opened is owned by
 * whoever opened it. <b>Threads.</b> Any.
 *
 * @since 0.1.0
 */
public interface ReopenableSource extends AutoCloseable {

	/**
	 * Returns the Arrow schema, without opening anything.
	 * @return the schema in memory format: dictionary columns have their index type
	 */
	Schema arrowSchema();

	/**
	 * Opens the source, from the first batch on.
	 * @return the stage of the opened source, owned by the caller
	 */
	CompletionStage<StreamingWriteSource> open();

	/**
	 * Gives back what is behind the source; nothing can be opened any more. Never blocks;
	 * idempotent.
	 */
	@Override
	void close();

	/**
	 * Makes one of something that can be opened again by itself, such as a file:
	 * {@code ReopenableSource.of(schema, () -> factory.fromIpc(path))}.
	 * @param schema the schema of what is opened, in memory format
	 * @param opener opens it; each call must give the same batches
	 * @return the source; closing it does nothing
	 */
	static ReopenableSource of(Schema schema, Supplier<CompletionStage<StreamingWriteSource>> opener) {
		return new ReopenableSource() {

			@Override
			public Schema arrowSchema() {
				return schema;
			}

			@Override
			public CompletionStage<StreamingWriteSource> open() {
				try {
					return opener.get();
				}
				catch (RuntimeException ex) {
					return CompletableFuture.failedFuture(ex);
				}
			}

			@Override
			public void close() {
			}

		};
	}

}
