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

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.EngineFuture;
import org.lance.spring.stream.RecordBatch;

/**
 * The decoder of a feed together with the source that its schema makes possible. Used by
 * one thread at a time.
 */
final class FedSource implements AutoCloseable {

	private final IpcDecoder decoder;

	private final Function<IpcSchema, StreamingWriteSource> maker;

	private final CompletableFuture<StreamingWriteSource> stage = new EngineFuture<>();

	private boolean sourceMade;

	FedSource(BufferAllocator allocator, Function<IpcSchema, StreamingWriteSource> maker) {
		this.decoder = new IpcDecoder(allocator, IpcTarget.UNKNOWN_SIZE);
		this.maker = maker;
	}

	/**
	 * The stage of the source; the feed fails it if there will be none.
	 */
	CompletableFuture<StreamingWriteSource> stage() {
		return this.stage;
	}

	/**
	 * Decodes until a batch is complete or all bytes are consumed, and makes the source
	 * before it gives the first batch.
	 */
	@Nullable RecordBatch decode(ByteBuffer bytes) {
		try {
			return this.decoder.decode(bytes);
		}
		finally {
			// Also if what follows the schema in these bytes is wrong.
			IpcSchema schema = this.decoder.schema();
			if (schema != null && !this.sourceMade) {
				this.sourceMade = true;
				StreamingWriteSource made = this.maker.apply(schema);
				if (!this.stage.complete(made)) {
					made.close();
				}
			}
		}
	}

	void finish() {
		this.decoder.finish();
	}

	@Override
	public void close() {
		this.decoder.close();
	}

}
