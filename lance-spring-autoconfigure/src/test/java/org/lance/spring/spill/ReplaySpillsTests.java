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

import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;

import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.EngineExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ReplaySpillsTests {

	@Order(1)
	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@Order(2)
	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@TempDir
	Path directory;

	private ReplaySpill create(Path path, long limit) {
		return ReplaySpills.create(path, Batches.SCHEMA, limit, this.engine.allocator(), this.engine.pool(1));
	}

	private void write(SpillSender sender, long... values) throws Exception {
		try (RecordBatch batch = new Batches(this.engine.allocator()).of(values)) {
			EngineExtension.await(sender.write(batch));
		}
	}

	private List<Long> read(ReplaySpill spill) throws Exception {
		return new Batches(this.engine.allocator()).take(EngineExtension.await(spill.receiver().read().collect()));
	}

	@Test
	void fileIsAtThePathUntilTheSpillIsClosed() throws Exception {
		Path path = this.directory.resolve("replay.arrows");
		ReplaySpill spill = create(path, 1024);
		SpillSender sender = spill.sender();
		write(sender, 1);
		assertThat(path).as("below the limit").doesNotExist();
		for (int i = 2; i < 10; i++) {
			write(sender, i);
		}
		EngineExtension.await(sender.finish());
		assertThat(read(spill)).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
		try (ArrowStreamReader reader = new ArrowStreamReader(Files.newInputStream(path), this.engine.allocator())) {
			int batches = 0;
			while (reader.loadNextBatch()) {
				batches++;
			}
			assertThat(batches).as("any Arrow client can read it").isEqualTo(9);
			assertThat(reader.getVectorSchemaRoot().getSchema()).isEqualTo(Batches.SCHEMA);
		}
		spill.close();
		EngineExtension.await(spill.closed());
		assertThat(path).doesNotExist();
	}

	@Test
	void existingPathIsRefusedAndLeftUntouched() throws Exception {
		Path path = Files.writeString(this.directory.resolve("mine.txt"), "mine");
		assertThatExceptionOfType(SpillIoException.class).isThrownBy(() -> create(path, 0))
			.withMessageContaining("mine.txt")
			.withCauseInstanceOf(FileAlreadyExistsException.class);
		assertThat(path).hasContent("mine");
	}

	@Test
	void pathThatComesIntoBeingLaterIsRefusedAndLeftUntouched() throws Exception {
		Path path = this.directory.resolve("mine.txt");
		ReplaySpill spill = create(path, 0);
		Files.writeString(path, "mine");
		try (RecordBatch batch = new Batches(this.engine.allocator()).of(1)) {
			assertThat(SpillHarness.failure(spill.sender().write(batch))).isInstanceOf(SpillIoException.class)
				.hasCauseInstanceOf(FileAlreadyExistsException.class);
		}
		spill.close();
		EngineExtension.await(spill.closed());
		assertThat(path).hasContent("mine");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void fileThatTookThePlaceOfOursIsLeftUntouched(boolean finishes) throws Exception {
		Path path = this.directory.resolve("replay.arrows");
		ReplaySpill spill = create(path, 0);
		SpillSender sender = spill.sender();
		write(sender, 1);
		Files.delete(path);
		Files.writeString(path, "mine ".repeat(1000));
		if (finishes) {
			assertThat(SpillHarness.failure(sender.finish())).isInstanceOf(SpillGoneException.class);
		}
		spill.close();
		EngineExtension.await(spill.closed());
		assertThat(path).hasContent("mine ".repeat(1000));
	}

	@Test
	void negativeLimitIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> create(this.directory.resolve("x"), -1))
			.withMessageContaining("memoryLimit");
	}

	@Test
	void whenTheExecutorThrewTheQueueAwayThenCloseCleansUpHere() throws Exception {
		Path path = this.directory.resolve("replay.arrows");
		ExecutorService pool = this.engine.pool(1);
		ReplaySpill spill = ReplaySpills.create(path, Batches.SCHEMA, 0, this.engine.allocator(), pool);
		write(spill.sender(), 1);
		pool.shutdownNow();
		spill.close();
		assertThat(spill.closed().toCompletableFuture()).isDone();
		assertThat(path).doesNotExist();
	}

	@Test
	void forgottenSpillLeavesNoFile() throws Exception {
		Path path = this.directory.resolve("replay.arrows");
		forget(path);
		assertThat(path).exists();
		Awaitility.await().until(() -> {
			System.gc();
			return Files.notExists(path);
		});
	}

	private void forget(Path path) throws Exception {
		ReplaySpill spill = create(path, 0);
		SpillSender sender = spill.sender();
		write(sender, 1);
		EngineExtension.await(sender.finish());
	}

}
