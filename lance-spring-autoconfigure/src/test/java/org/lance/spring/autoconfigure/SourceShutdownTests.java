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

package org.lance.spring.autoconfigure;

import java.nio.file.Path;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.source.StreamingWriteSource;
import org.lance.spring.source.StreamingWriteSourceFactory;
import org.lance.spring.spill.SpillClosedException;
import org.lance.spring.spill.SpillManager;
import org.lance.spring.stream.Failures;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;

import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a source uses is there as long as the source runs, even one that does not heed the
 * end of the application.
 */
@Timeout(60)
class SourceShutdownTests {

	@TempDir
	private Path folder;

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whenASourceGoesOnAfterTheEndThenTheBeanThatItUsesLivesUntilItIsDone(boolean spilled) {
		Service service = new Service();
		Runners.all()
			.withPropertyValues("lance.spill.directories=" + this.folder, "lance.spill.memory-limit=0",
					"lance.background.await-termination=100ms")
			// Made last, so that it is destroyed first of all.
			.withBean("service", Service.class, () -> service, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				BufferAllocator allocator = context.getBean(BufferAllocator.class);
				Stubborn source = new Stubborn(context.getBean("service", Service.class), allocator);
				CompletableFuture<?> read = read(context, source, spilled);
				source.blocked.await();
				Executor later = CompletableFuture.delayedExecutor(2500, TimeUnit.MILLISECONDS);
				read.whenCompleteAsync((batches, failure) -> source.gate.countDown(), later);
				context.close();
				assertThat(read).isCompletedExceptionally();
				assertThatExceptionOfType(Exception.class).isThrownBy(read::get)
					.extracting(Failures::unwrap)
					.isInstanceOf(spilled ? SpillClosedException.class : CancellationException.class);
				assertThat(source.gate.getCount()).as("the shutdown has waited for the source").isZero();
				assertThat(service.used).isTrue();
				assertThat(service.destroyed).isTrue();
				assertThat(service.usedAfterwards).isFalse();
				assertThat(this.folder).isEmptyDirectory();
			});
	}

	/**
	 * Reads the batch that the source has, and the one that it waits in.
	 */
	private static CompletableFuture<?> read(ApplicationContext context, Stubborn source, boolean spilled) {
		StreamingWriteSource batches = context.getBean(StreamingWriteSourceFactory.class)
			.fromBatches(Numbers.SCHEMA, source);
		RecordBatchStream stream = spilled ? context.getBean(SpillManager.class).spill(batches).read()
				: batches.intoStream();
		return stream.next().thenCompose((first) -> {
			first.orElseThrow().close();
			return stream.next();
		}).toCompletableFuture();
	}

	/**
	 * What the source needs, such as a pool of connections.
	 */
	static final class Service implements AutoCloseable {

		volatile boolean used;

		volatile boolean destroyed;

		volatile boolean usedAfterwards;

		void use() {
			this.used = true;
			this.usedAfterwards |= this.destroyed;
		}

		@Override
		public void close() {
			this.destroyed = true;
		}

	}

	/**
	 * Waits in its second batch, whoever interrupts it, and then uses the service.
	 */
	private static final class Stubborn implements java.util.Iterator<RecordBatch> {

		final CountDownLatch blocked = new CountDownLatch(1);

		final CountDownLatch gate = new CountDownLatch(1);

		private final AtomicBoolean first = new AtomicBoolean(true);

		private final Service service;

		private final BufferAllocator allocator;

		Stubborn(Service service, BufferAllocator allocator) {
			this.service = service;
			this.allocator = allocator;
		}

		@Override
		public boolean hasNext() {
			return true;
		}

		@Override
		public RecordBatch next() {
			if (!this.first.getAndSet(false)) {
				this.blocked.countDown();
				while (this.gate.getCount() > 0) {
					try {
						this.gate.await();
					}
					catch (InterruptedException ex) {
						// Goes on, as such a source does.
					}
				}
				this.service.use();
			}
			return Numbers.batch(this.allocator);
		}

	}

}
