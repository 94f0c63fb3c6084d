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

package org.lance.spring.sample.tables;

import java.nio.ByteBuffer;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.lance.spring.source.IpcFeed;
import org.lance.spring.spill.SpillReceiver;
import org.lance.spring.stream.AsyncLoop;
import org.lance.spring.stream.Failures;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;

/**
 * The body of one request on its way into a spill: each piece is decoded as it comes, and
 * the next one is asked for when the engine can take it. No thread waits for the client.
 */
class Upload implements AutoCloseable {

	private final IpcFeed feed;

	private final CompletionStage<SpillReceiver> spill;

	private long bytes;

	/**
	 * Creates an upload.
	 * @param feed decodes the body, taken over
	 * @param spill the spill of what the feed decodes, taken over
	 */
	Upload(IpcFeed feed, CompletionStage<SpillReceiver> spill) {
		this.feed = feed;
		this.spill = spill;
	}

	/**
	 * Receives the whole body.
	 * @param body the body
	 * @return the spill, when all of the body is in it
	 */
	Mono<SpillReceiver> receive(Flux<DataBuffer> body) {
		Mono<Void> fed = body.onErrorMap(UploadBrokenOffException::new)
			.concatMap(this::feed, 1)
			.doOnDiscard(DataBuffer.class, DataBufferUtils::release)
			.then(Mono.fromCompletionStage(this.feed::complete))
			.doOnError(this.feed::fail)
			// The decoder has nobody to decode for: the spill knows why.
			.onErrorComplete(CancellationException.class);
		Mono<SpillReceiver> written = Mono.fromCompletionStage(
				() -> this.spill.thenCompose((receiver) -> receiver.written().thenApply((snapshot) -> receiver)));
		return Mono.zip(fed.thenReturn(true), written, (done, receiver) -> receiver);
	}

	/**
	 * Returns how much of the body came so far.
	 */
	long bytes() {
		return this.bytes;
	}

	private Mono<Void> feed(DataBuffer buffer) {
		return Mono.fromFuture(() -> {
			this.bytes += buffer.readableByteCount();
			DataBuffer.ByteBufferIterator parts = buffer.readableByteBuffers();
			// A future of its own: a request that ends cancels it, and a stage that is
			// cancelled would not give the buffer back when the engine has done with it.
			CompletableFuture<Void> fed = new CompletableFuture<>();
			AsyncLoop.repeat(() -> feed(parts)).whenComplete((done, failure) -> {
				parts.close();
				DataBufferUtils.release(buffer);
				if (failure == null) {
					fed.complete(null);
				}
				else {
					fed.completeExceptionally(Failures.unwrap(failure));
				}
			});
			return fed;
		});
	}

	private CompletionStage<Boolean> feed(DataBuffer.ByteBufferIterator parts) {
		if (!parts.hasNext()) {
			return CompletableFuture.completedFuture(false);
		}
		ByteBuffer part = parts.next();
		return this.feed.feed(part).thenApply((taken) -> true);
	}

	/**
	 * Gives everything back; without effect on what Lance has committed.
	 */
	@Override
	public void close() {
		this.feed.close();
		this.spill.thenAccept(SpillReceiver::close);
	}

}
