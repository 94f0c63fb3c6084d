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

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ViewVarCharVector;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.autoconfigure.LanceExecutorAutoConfiguration;
import org.lance.spring.autoconfigure.LanceMemoryAutoConfiguration;
import org.lance.spring.autoconfigure.LanceSpillAutoConfiguration;
import org.lance.spring.spill.SpillSnapshot.State;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.testing.ArrowTypes;
import org.lance.spring.testing.EngineExtension;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What counts as held, by whom, and when a spill leaves memory because of it.
 */
class SpillAccountingTests {

	private static final int MEGABYTE = 1 << 20;

	@Order(1)
	@RegisterExtension
	final OpenFiles openFiles = new OpenFiles();

	@Order(2)
	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	@TempDir
	Path directory;

	@Test
	void bufferOfTenColumnsCountsOnce() throws Exception {
		SpillHarness harness = new SpillHarness(this.engine, new FakeStore(), 1);
		List<Field> fields = new ArrayList<>();
		RecordBatch batch;
		try (ArrowBuf shared = this.engine.allocator().buffer(MEGABYTE)) {
			shared.setZero(0, MEGABYTE);
			List<ArrowFieldNode> nodes = new ArrayList<>();
			List<ArrowBuf> buffers = new ArrayList<>();
			int rows = 110_000;
			for (int i = 0; i < 10; i++) {
				fields.add(Field.nullable("c" + i, ArrowTypes.INT64));
				nodes.add(new ArrowFieldNode(rows, rows));
				buffers.add(shared.slice(0, (rows + 7) / 8));
				buffers.add(shared.slice(0, rows * 8L));
			}
			batch = RecordBatch.seal(
					new Schema(fields), new ArrowRecordBatch(rows, nodes, buffers,
							NoCompressionCodec.DEFAULT_BODY_COMPRESSION, null, true, false),
					List.of(), this.engine.allocator());
		}
		ReplaySpill spill = harness.manager.createReplaySpill(new Schema(fields),
				SpillOptions.DEFAULTS.withMemoryLimit(2 * MEGABYTE));
		try (batch) {
			EngineExtension.await(spill.sender().write(batch));
		}
		assertThat(spill.snapshot().state()).isEqualTo(State.IN_MEMORY);
		assertThat(spill.snapshot().memoryBytes()).isBetween((long) MEGABYTE, MEGABYTE + 50_000L);
		assertThat(harness.manager.statistics().memoryUsed()).isEqualTo(spill.snapshot().memoryBytes());
		assertThat(this.engine.allocator().getAllocatedMemory()).as("not copied").isEqualTo(MEGABYTE);
	}

	@ParameterizedTest
	@EnumSource(names = "SWITCHING", mode = EnumSource.Mode.EXCLUDE)
	void payloadOfViewsCounts(Place place) throws Exception {
		SpillHarness harness = new SpillHarness(this.engine,
				new FileSpillStore(() -> this.directory, this.engine.allocator(), ReadMode.READ), 1);
		int rows = 10_000;
		Schema schema = new Schema(
				List.of(Field.nullable("v", org.apache.arrow.vector.types.pojo.ArrowType.Utf8View.INSTANCE)));
		ReplaySpill spill = harness.manager.createReplaySpill(schema, place.options());
		SpillSender sender = spill.sender();
		try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, this.engine.allocator())) {
			ViewVarCharVector views = (ViewVarCharVector) root.getVector(0);
			for (int i = 0; i < rows; i++) {
				views.setSafe(i, view(i));
			}
			root.setRowCount(rows);
			try (RecordBatch batch = RecordBatch.copyOf(root, null, this.engine.allocator())) {
				assertThat(batch.memorySize()).isBetween(rows * 116L, rows * 232L);
				EngineExtension.await(sender.write(batch));
			}
		}
		SpillSnapshot snapshot = spill.snapshot();
		assertThat((place == Place.MEMORY) ? snapshot.memoryBytes() : snapshot.diskBytes()).isBetween(rows * 116L,
				rows * 232L);
		EngineExtension.await(sender.finish());
		List<RecordBatch> batches = EngineExtension.await(spill.receiver().read().collect());
		assertThat(batches).hasSize(1);
		try (RecordBatch batch = batches.get(0); OpenBatch open = batch.open(this.engine.allocator())) {
			for (int i = 0; i < rows; i++) {
				assertThat(((ViewVarCharVector) open.root().getVector(0)).get(i)).isEqualTo(view(i));
			}
		}
	}

	private static byte[] view(int row) {
		return "%0100d".formatted(row).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
	}

	/**
	 * What a foreign allocator paid for is handed over to no allocator of ours, so no
	 * limit of an allocator stops it.
	 */
	@Test
	void batchLargerThanTheSpillsAllocatorGoesToDisk() throws Exception {
		try (BufferAllocator spills = this.engine.allocator().newChildAllocator("spills", 0, MEGABYTE);
				BufferAllocator source = this.engine.allocator().newChildAllocator("source", 0, Long.MAX_VALUE)) {
			SpillManager manager = SpillManager.builder(spills, this.engine.pool(1))
				.directories(List.of(this.directory))
				.memoryLimit(MEGABYTE)
				.readMode(ReadMode.READ)
				.build();
			ReplaySpill spill = manager.createReplaySpill(Batches.SCHEMA);
			SpillSender sender = spill.sender();
			int rows = 4 * MEGABYTE / 8;
			try (RecordBatch batch = new Batches(source).rows(rows, 7)) {
				EngineExtension.await(sender.write(batch));
			}
			EngineExtension.await(sender.finish());
			assertThat(spill.snapshot().memoryBytes()).isZero();
			assertThat(spill.snapshot().diskBytes()).isGreaterThan(4 * MEGABYTE);
			assertThat(source.getAllocatedMemory()).isZero();
			// Neither can it be read into that allocator.
			assertThat(SpillHarness.failure(spill.receiver().read().next())).isInstanceOf(SpillIoException.class)
				.hasMessageContaining("lance.memory.limit");
			assertThat(spills.getPeakMemoryAllocation()).isLessThanOrEqualTo(MEGABYTE);
			manager.close();
			EngineExtension.await(manager.closed());
			assertThat(spills.getAllocatedMemory()).isZero();
		}
	}

	@Test
	void memoryOfAnotherAllocatorCountsAsLongAsASpillHoldsIt() throws Exception {
		try (BufferAllocator source = this.engine.allocator().newChildAllocator("source", 0, Long.MAX_VALUE)) {
			SpillHarness harness = new SpillHarness(this.engine, new FakeStore(), this.engine.pool(1), 10 * MEGABYTE);
			ReplaySpill spill = harness.spill(Place.MEMORY);
			SpillSender sender = spill.sender();
			for (int i = 0; i < 2; i++) {
				try (RecordBatch batch = new Batches(source).rows(450_000, i)) {
					EngineExtension.await(sender.write(batch));
				}
			}
			assertThat(spill.snapshot().state()).isEqualTo(State.IN_MEMORY);
			assertThat(spill.snapshot().memoryBytes()).isGreaterThanOrEqualTo(source.getAllocatedMemory())
				.isGreaterThan(7_200_000);
			assertThat(harness.manager.statistics().memoryUsed()).isEqualTo(spill.snapshot().memoryBytes());
			try (RecordBatch batch = new Batches(source).rows(450_000, 2)) {
				EngineExtension.await(sender.write(batch));
			}
			assertThat(spill.snapshot().state()).as("beyond the shared budget").isEqualTo(State.ON_DISK);
			assertThat(harness.manager.statistics().memoryUsed()).isZero();
			spill.close();
			EngineExtension.await(spill.closed());
		}
	}

	@ParameterizedTest
	@CsvSource({ "0, false", "1, false", "0, true", "1, true" })
	void finishedSpillOnDiskHoldsNoMemory(int level, boolean encrypted) throws Exception {
		SpillManager manager = SpillManager.builder(this.engine.allocator(), this.engine.pool(1))
			.directories(List.of(this.directory))
			.compression((level > 0) ? SpillCompression.zstd(level) : SpillCompression.NONE)
			.encryption(encrypted)
			.build();
		this.engine.closeLater(() -> {
			manager.close();
			EngineExtension.await(manager.closed());
		});
		for (Place place : List.of(Place.SWITCHING, Place.DISK)) {
			ReplaySpill spill = manager.createReplaySpill(Batches.SCHEMA, place.options());
			SpillSender sender = spill.sender();
			for (int i = 0; i < 20; i++) {
				// The first ones fit into the little memory of the one that switches.
				try (RecordBatch batch = new Batches(this.engine.allocator()).rows((i < 3) ? 1 : 10_000, i)) {
					EngineExtension.await(sender.write(batch));
				}
			}
			EngineExtension.await(sender.finish());
			assertThat(this.engine.allocator().getAllocatedMemory()).isZero();
			assertThat(spill.snapshot().memoryBytes()).isZero();
			assertThat(manager.statistics().memoryUsed()).isZero();
			assertThat(ZstdCodec.open()).as("codecs").isZero();
			assertThat(spill.snapshot().diskBytes()).isPositive();
		}
	}

	@Test
	void spillPointDoesNotDependOnTheProcessors() throws Exception {
		List<String> points = new ArrayList<>();
		for (int processors : new int[] { 1, 64 }) {
			String output = ChildJvm.run(
					List.of("-XX:ActiveProcessorCount=" + processors, "-Dlance.spill.memory-limit=4MB",
							"-Dlance.spill.total-memory-limit=6MB", "-Dlance.spill.directories=" + this.directory),
					SpillPoint.class);
			assertThat(output).contains("on " + processors + " processors");
			points.add(output.lines().filter((line) -> line.startsWith("> ")).collect(Collectors.joining()));
		}
		assertThat(points.get(0)).as("the limits are those of one spill and of all")
			.isEqualTo("> one spilled at batch 8, and another beside two in memory at batch 4");
		assertThat(points.get(1)).isEqualTo(points.get(0));
	}

	/**
	 * Writes batches of 512 KiB to a spill until it goes to disk, then, beside two that
	 * are half as large as they may be, to another one.
	 */
	static final class SpillPoint implements ChildJvm.Program {

		@Override
		public void run(List<String> arguments) throws Exception {
			System.out.println("on " + Runtime.getRuntime().availableProcessors() + " processors");
			try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(
					LanceMemoryAutoConfiguration.class, LanceExecutorAutoConfiguration.class,
					LanceSpillAutoConfiguration.class)) {
				SpillManager manager = context.getBean(SpillManager.class);
				Batches batches = new Batches(context.getBean(BufferAllocator.class));
				// Kept, as the memory of a spill that nobody can reach is given back.
				List<ReplaySpill> spills = new ArrayList<>();
				int first = spillPoint(manager, batches, Integer.MAX_VALUE, spills);
				// No larger than the last one becomes, so that they are not moved.
				spillPoint(manager, batches, 4, spills);
				spillPoint(manager, batches, 4, spills);
				System.out.println("> one spilled at batch %d, and another beside two in memory at batch %d"
					.formatted(first, spillPoint(manager, batches, Integer.MAX_VALUE, spills)));
				spills.forEach(ReplaySpill::close);
			}
		}

		/**
		 * Returns the index of the first batch that is not held in memory.
		 */
		private static int spillPoint(SpillManager manager, Batches batches, int most, List<ReplaySpill> spills)
				throws Exception {
			ReplaySpill spill = manager.createReplaySpill(Batches.SCHEMA);
			spills.add(spill);
			SpillSender sender = spill.sender();
			int count = 0;
			while (spill.snapshot().state() == State.IN_MEMORY && count < most) {
				CompletionStage<Void> written;
				try (RecordBatch batch = batches.rows(60_000, count)) {
					written = sender.write(batch);
				}
				EngineExtension.await(written);
				count++;
			}
			EngineExtension.await(sender.finish());
			return count - 1;
		}

	}

}
