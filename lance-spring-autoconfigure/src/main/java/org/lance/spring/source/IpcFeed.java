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
import java.util.concurrent.CompletionStage;

/**
 * Takes Arrow IPC data, stream or file, as it arrives, and makes a source of it. Needs no
 * thread: batches are decoded by whoever feeds.
 * <p>
 * <b>Ownership.</b> The feeder closes the feed; the source belongs to whoever takes it.
 * <b>Threads.</b> Feeding: one thread at a time, the next call only when the stage of the
 * last one ended. The source may be consumed by any other thread.
 *
 * @since 0.1.0
 */
public interface IpcFeed extends AutoCloseable {

	/**
	 * Returns the stage of the source.
	 * @return the stage; ends when the schema was fed, fails with an
	 * {@link org.lance.spring.stream.ArrowDataException} if the data is none
	 */
	CompletionStage<StreamingWriteSource> source();

	/**
	 * Feeds the next bytes.
	 * @param bytes the bytes; all of them are consumed and the buffer may be reused when
	 * the stage ends
	 * @return the stage that ends when more can be taken: decoded batches that wait for
	 * their consumer hold it back. It fails if the data is malformed, and with a
	 * {@link java.util.concurrent.CancellationException} if the consumer went away
	 */
	CompletionStage<Void> feed(ByteBuffer bytes);

	/**
	 * Says that all bytes were fed.
	 * @return the stage that ends when the consumer can have all batches; it fails if the
	 * data was cut or malformed
	 */
	CompletionStage<Void> complete();

	/**
	 * Says that the rest will never come; the consumer's next step fails with that cause.
	 * @param cause why
	 */
	void fail(Throwable cause);

	/**
	 * Closes the feed; without {@link #complete()} before, that is a failure to the
	 * consumer. Never blocks.
	 */
	@Override
	void close();

}
