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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.junit.jupiter.api.Test;
import org.lance.spring.source.IpcFeed;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.spill.SpillReceiver;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for the server's buffers on their way through an upload: each is given back, and
 * not before the engine has done with it.
 */
class UploadBuffersTests {

	private static final Duration PATIENCE = Duration.ofSeconds(5);

	private final NettyDataBufferFactory factory = new NettyDataBufferFactory(ByteBufAllocator.DEFAULT);

	private final List<ByteBuf> buffers = new ArrayList<>();

	private final SlowFeed feed = new SlowFeed();

	private final CompletableFuture<SpillReceiver> spill = new CompletableFuture<>();

	private final Upload upload = new Upload(this.feed, this.spill);

	@Test
	void buffersAreGivenBackWhenTheEngineHasTakenThem() {
		Disposable receiving = receive(3);
		assertThat(references()).containsExactly(1, 1, 1);
		this.feed.take();
		assertThat(references()).containsExactly(0, 1, 1);
		this.feed.take();
		this.feed.take();
		assertThat(references()).containsExactly(0, 0, 0);
		assertThat(this.upload.bytes()).isEqualTo(6);
		receiving.dispose();
	}

	@Test
	void whenTheEngineRefusesABufferThenAllAreGivenBack() {
		Mono<SpillReceiver> received = this.upload.receive(body(3));
		CompletableFuture<SpillReceiver> outcome = received.toFuture();
		this.feed.take();
		this.feed.refuse(new IllegalArgumentException("no Arrow"));
		assertThat(references()).containsExactly(0, 0, 0);
		assertThatIllegalArgumentException().isThrownBy(() -> Mono.fromFuture(outcome).block(PATIENCE))
			.withMessage("no Arrow");
	}

	@Test
	void whenTheClientGoesAwayThenABufferInUseIsGivenBackAfterItsUse() {
		Disposable receiving = receive(2);
		receiving.dispose();
		assertThat(references()).containsExactly(1, 0);
		this.upload.close();
		assertThat(references()).containsExactly(0, 0);
	}

	private Disposable receive(int count) {
		return this.upload.receive(body(count)).subscribe();
	}

	private Flux<DataBuffer> body(int count) {
		for (int i = 0; i < count; i++) {
			ByteBuf buffer = ByteBufAllocator.DEFAULT.directBuffer(2).writeShort(i);
			this.buffers.add(buffer);
		}
		return Flux.fromIterable(this.buffers).<DataBuffer>map(this.factory::wrap);
	}

	private List<Integer> references() {
		return this.buffers.stream().map(ByteBuf::refCnt).toList();
	}

	/**
	 * Takes a buffer when it is told to.
	 */
	private static final class SlowFeed implements IpcFeed {

		private CompletableFuture<Void> pending = new CompletableFuture<>();

		void take() {
			CompletableFuture<Void> taken = this.pending;
			this.pending = new CompletableFuture<>();
			taken.complete(null);
		}

		void refuse(Throwable cause) {
			this.pending.completeExceptionally(cause);
		}

		@Override
		public CompletionStage<Void> feed(ByteBuffer bytes) {
			return this.pending;
		}

		@Override
		public void close() {
			this.pending.cancel(false);
		}

		@Override
		public CompletionStage<StreamingWriteSource> source() {
			return new CompletableFuture<>();
		}

		@Override
		public CompletionStage<Void> complete() {
			return CompletableFuture.completedFuture(null);
		}

		@Override
		public void fail(Throwable cause) {
		}

	}

}
