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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Interrupts in the middle of a call; those before it are tested with spill files.
 */
class LocalChannelTests {

	private static final int SIZE = 8 << 20;

	@TempDir
	private Path folder;

	@RepeatedTest(5)
	void whenInterruptedInTheMiddleOfACallThenTheDataAreRight() throws Exception {
		ByteBuffer written = ByteBuffer.allocateDirect(SIZE);
		for (int i = 0; i < SIZE; i += Integer.BYTES) {
			written.putInt(i, i);
		}
		ByteBuffer read = ByteBuffer.allocateDirect(SIZE);
		AtomicInteger interrupts = new AtomicInteger();
		Throwable[] failure = new Throwable[1];
		AtomicBoolean done = new AtomicBoolean();
		Thread worker = new Thread(() -> {
			try (SpillFileSystem.SpillChannel channel = new LocalFileSystem().create(this.folder.resolve("file"))) {
				for (int i = 0; i < 20; i++) {
					write(channel, written, interrupts);
					read(channel, read.clear(), interrupts);
				}
			}
			catch (Throwable ex) {
				failure[0] = ex;
			}
			finally {
				done.set(true);
			}
		});
		worker.start();
		while (!done.get()) {
			worker.interrupt();
			Thread.sleep(1);
		}
		worker.join();
		assertThat(failure[0]).isNull();
		assertThat(interrupts.get()).as("interrupts that were kept").isPositive();
		assertThat(read.flip().mismatch(written.duplicate().clear())).isEqualTo(-1);
	}

	@Test
	void eachWriteGoesToItsPosition() throws Exception {
		Path file = this.folder.resolve("file");
		try (SpillFileSystem.SpillChannel channel = new LocalFileSystem().create(file)) {
			write(channel, 0, "abc");
			write(channel, 3, "def");
			write(channel, 1, "xy");
			write(channel, 6, "ghi");
			channel.truncate(4);
			write(channel, 9, "!");
			write(channel, 4, "?");
		}
		assertThat(Files.readString(file)).isEqualTo("axyd?\0\0\0\0!");
	}

	private static void write(SpillFileSystem.SpillChannel channel, long position, String text) throws IOException {
		ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
		assertThat(channel.write(position, new ByteBuffer[] { bytes }, 0)).isEqualTo(text.length());
	}

	private static void write(SpillFileSystem.SpillChannel channel, ByteBuffer source, AtomicInteger interrupts)
			throws IOException {
		ByteBuffer[] parts = new ByteBuffer[8];
		Arrays.setAll(parts, (i) -> source.slice(i * (SIZE / 8), SIZE / 8));
		long position = 0;
		for (int first = 0; first < parts.length;) {
			long count = channel.write(position, parts, first);
			assertThat(count).isPositive();
			position += count;
			count(interrupts);
			while (first < parts.length && !parts[first].hasRemaining()) {
				first++;
			}
		}
	}

	private static void read(SpillFileSystem.SpillChannel channel, ByteBuffer target, AtomicInteger interrupts)
			throws IOException {
		while (target.hasRemaining()) {
			int before = target.position();
			int count = channel.read(before, target);
			assertThat(count).isEqualTo(target.position() - before).isPositive();
			count(interrupts);
		}
	}

	private static void count(AtomicInteger interrupts) {
		if (Thread.interrupted()) {
			interrupts.incrementAndGet();
		}
	}

}
