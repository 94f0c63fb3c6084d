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

package org.lance.spring.dataset;

import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.stream.RecordBatchStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests of {@link LanceTemplate}: what goes in comes out.
 */
class LanceTemplateTests extends AbstractLanceTests {

	@Test
	void whenCreatedThenScanGivesTheSameRows() throws Exception {
		LanceWriteResult result = write(source(3, 10), LanceWriteMode.CREATE);
		assertThat(result.version()).isEqualTo(1);
		assertThat(result.rows()).isEqualTo(30);
		assertThat(result.batches()).isEqualTo(3);
		assertThat(result.bytes()).isGreaterThan(30 * 8);
		assertThat(result.attempts()).isEqualTo(1);
		assertThat(result.duration()).isPositive();
		List<List<Object>> expected = IntStream.range(0, 30)
			.mapToObj((i) -> java.util.Arrays.<Object>asList((long) i, (i % 3 != 0) ? "name" + i : null))
			.toList();
		assertThat(rows(LanceScan.all())).isEqualTo(expected);
		assertThat(await(this.template.countRows(this.uri))).isEqualTo(30);
		assertThat(await(this.template.exists(this.uri))).isTrue();
	}

	@Test
	void whenDescribedThenSchemaVersionAndRowsAreKnown() throws Exception {
		write(source(1, 7), LanceWriteMode.CREATE);
		write(source(1, 7), LanceWriteMode.APPEND);
		LanceTable table = await(this.template.describe(this.uri));
		assertThat(table).isEqualTo(new LanceTable(2, 14, SCHEMA));
	}

	@Test
	void whenCreatedOverExistingThenFailsAndKeepsIt() throws Exception {
		write(source(1, 5), LanceWriteMode.CREATE);
		TestSource source = source(1, (i) -> {
			throw new AssertionError("read");
		});
		assertThat(failure(this.template.write(this.uri, source, LanceWriteMode.CREATE))).isInstanceOfSatisfying(
				LanceDatasetExistsException.class, (ex) -> assertThat(ex.getUri()).isEqualTo(this.uri));
		assertThat(source.isClosed()).isTrue();
		assertThat(await(this.template.describe(this.uri)).version()).isEqualTo(1);
	}

	@Test
	void whenAppendedToNothingThenFailsAndCreatesNothing() throws Exception {
		assertThat(failure(this.template.write(this.uri, source(1, 5), LanceWriteMode.APPEND)))
			.isInstanceOf(LanceDatasetNotFoundException.class);
		assertThat(await(this.template.exists(this.uri))).isFalse();
		assertThat(Path.of(this.uri)).doesNotExist();
	}

	@Test
	void whenAppendedThenRowsAreAdded() throws Exception {
		write(source(2, 10), LanceWriteMode.CREATE);
		LanceWriteResult result = write(source(1, (i) -> batch(20, 5)), LanceWriteMode.APPEND);
		assertThat(result.version()).isEqualTo(2);
		assertThat(ids()).isEqualTo(range(0, 25));
	}

	@Test
	void whenOverwrittenThenOnlyNewRowsAreThere() throws Exception {
		assertThat(write(source(2, 10), LanceWriteMode.OVERWRITE).version()).isEqualTo(1);
		assertThat(write(source(1, (i) -> batch(100, 3)), LanceWriteMode.OVERWRITE).version()).isEqualTo(2);
		assertThat(ids()).isEqualTo(range(100, 103));
	}

	@Test
	void whenOverwrittenWithAnotherSchemaThenTheTableHasIt() throws Exception {
		Schema other = new Schema(List.of(Field.nullable("other", new ArrowType.Int(32, true))));
		write(source(1, 3), LanceWriteMode.CREATE);
		write(source(other, 0, (i) -> null), LanceWriteMode.OVERWRITE);
		assertThat(await(this.template.describe(this.uri))).isEqualTo(new LanceTable(2, 0, other));
	}

	@Test
	void whenSourceIsEmptyThenTableHasItsSchemaAndNoRows() throws Exception {
		LanceWriteResult result = write(source(0, 0), LanceWriteMode.CREATE);
		assertThat(result.rows()).isZero();
		assertThat(await(this.template.describe(this.uri))).isEqualTo(new LanceTable(1, 0, SCHEMA));
		write(source(1, 3), LanceWriteMode.APPEND);
		write(source(0, 0), LanceWriteMode.APPEND);
		assertThat(ids()).isEqualTo(range(0, 3));
	}

	@Test
	void whenBatchesInBetweenAreEmptyThenTheyAreIgnored() throws Exception {
		LanceWriteResult result = write(source(5, (i) -> batch(i, (i % 2 == 0) ? 0 : 1)), LanceWriteMode.CREATE);
		assertThat(result.batches()).isEqualTo(2);
		assertThat(ids()).isEqualTo(List.of(1L, 3L));
	}

	@Test
	void whenScanNamesColumnsFilterAndLimitThenOnlyTheseCome() throws Exception {
		write(source(10, 10), LanceWriteMode.CREATE);
		LanceScan scan = LanceScan.all().columns("name", "id").filter("id >= 50 and name is not null").limit(2);
		assertThat(rows(scan)).isEqualTo(List.of(List.of("name50", 50L), List.of("name52", 52L)));
		assertThat(rows(LanceScan.all().limit(0))).isEmpty();
	}

	@Test
	void whenBatchSizeIsGivenThenBatchesAreNotLarger() throws Exception {
		write(source(1, 100), LanceWriteMode.CREATE);
		RecordBatchStream stream = await(this.template.scan(this.uri, LanceScan.all().batchSize(30)));
		List<Integer> sizes = await(stream.collect()).stream().map((batch) -> {
			try (batch) {
				return batch.rowCount();
			}
		}).toList();
		assertThat(sizes).allMatch((size) -> size <= 30);
		assertThat(sizes.stream().mapToInt(Integer::intValue).sum()).isEqualTo(100);
	}

	@Test
	void whenScanIsWrongThenStageFailsWithTheReason() throws Exception {
		write(source(1, 3), LanceWriteMode.CREATE);
		assertThat(failure(this.template.scan(this.uri, LanceScan.all().columns("nope"))))
			.isInstanceOf(LanceReadException.class)
			.hasMessageContaining("nope")
			.hasMessageNotContaining("/rust/");
		assertThat(failure(this.template.scan(this.uri, LanceScan.all().filter("id >> ("))))
			.isInstanceOf(LanceReadException.class)
			.hasMessageContaining("sql parser error");
		assertThat(failure(this.template.scan(this.uri + "x", LanceScan.all())))
			.isInstanceOf(LanceDatasetNotFoundException.class);
	}

	@Test
	void whenScanFailsInTheMiddleThenStreamFailsWithTheReason() throws Exception {
		write(source(1, 3), LanceWriteMode.CREATE);
		RecordBatchStream stream = await(this.template.scan(this.uri, LanceScan.all().filter("1 / id > 0")));
		assertThat(failure(stream.collect())).isInstanceOf(LanceReadException.class).hasMessageContaining("zero");
	}

	@Test
	void whenScanIsClosedEarlyThenNothingIsLeft() throws Exception {
		write(source(10, 1000), LanceWriteMode.CREATE);
		RecordBatchStream stream = await(this.template.scan(this.uri, LanceScan.all().batchSize(100)));
		await(stream.next()).orElseThrow().close();
		stream.close();
		await(stream.closed());
		assertThat(this.background.openStreams()).isZero();
	}

	@Test
	void whenOptionsAreWrongThenTheyAreRefused() {
		LanceScan all = LanceScan.all();
		assertThatIllegalArgumentException().isThrownBy(() -> all.limit(-1)).withMessageContaining("'limit'");
		assertThatIllegalArgumentException().isThrownBy(() -> all.batchSize(0)).withMessageContaining("'batchSize'");
		assertThatIllegalArgumentException().isThrownBy(() -> all.filter(" ")).withMessageContaining("'filter'");
		assertThatIllegalArgumentException().isThrownBy(() -> all.columns("a", " ")).withMessageContaining("'columns'");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new LanceTemplate(this.engine.allocator(), this.background, 0))
			.withMessageContaining("'writeThreads'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "  ", "a\0b", "a\nb" })
	void whenUriIsEmptyOrStrangeThenItIsRefused(String strange) throws Exception {
		TestSource source = source(1, 3);
		assertThat(failure(this.template.write(strange, source, LanceWriteMode.CREATE)))
			.isInstanceOf(IllegalArgumentException.class)
			.hasMessageContaining("'uri'");
		assertThat(source.isClosed()).isTrue();
		assertThat(failure(this.template.countRows(strange))).isInstanceOf(IllegalArgumentException.class);
	}

	@Test
	void whenRealDataIsWrittenThenSumsAreTheSame() throws Exception {
		ArrowFileReader reader = new ArrowFileReader(flights(), this.engine.allocator());
		Schema schema = reader.getVectorSchemaRoot().getSchema();
		TestSource source = new TestSource(schema, Map.of(), () -> {
			try {
				return RecordBatchStream.of(reader, this.background, 1, this.engine.allocator());
			}
			catch (java.io.IOException ex) {
				throw new java.io.UncheckedIOException(ex);
			}
		});
		LanceWriteResult result = write(source, LanceWriteMode.CREATE);
		assertThat(result.rows()).isEqualTo(200_000);
		long[] expected = { 0, 0 };
		try (ArrowFileReader again = new ArrowFileReader(flights(), this.engine.allocator())) {
			while (again.loadNextBatch()) {
				for (List<Object> row : rows(again.getVectorSchemaRoot(), again)) {
					add(schema, row, expected);
				}
			}
		}
		long[] actual = { 0, 0 };
		List<List<Object>> rows = rows(LanceScan.all());
		rows.forEach((row) -> add(schema, row, actual));
		assertThat(rows).hasSize(200_000);
		assertThat(actual).isEqualTo(expected);
	}

	private static void add(Schema schema, List<Object> row, long[] sums) {
		for (int i = 0; i < row.size(); i++) {
			String name = schema.getFields().get(i).getName();
			if (row.get(i) instanceof Number number) {
				sums[0] += name.equals("delay") ? number.longValue() : 0;
				sums[1] += name.equals("distance") ? number.longValue() : 0;
			}
		}
	}

	private static FileChannel flights() throws java.io.IOException {
		return FileChannel.open(Path.of("../sample-app/src/main/resources/data/flights-200k.arrow"));
	}

	@Test
	void whenSchemaHasOtherTypesThenAppendIsRefusedBeforeAnythingIsRead() throws Exception {
		write(source(1, 3), LanceWriteMode.CREATE);
		Schema other = new Schema(List.of(Field.notNullable("id", new ArrowType.Int(32, true)),
				Field.nullable("name", new ArrowType.Utf8())));
		TestSource source = source(other, 1, (i) -> {
			throw new AssertionError("read");
		});
		assertThat(failure(this.template.write(this.uri, source, LanceWriteMode.APPEND)))
			.isInstanceOf(org.lance.spring.stream.SchemaMismatchException.class)
			.hasMessageContaining("'id'");
		assertThat(source.isClosed()).isTrue();
	}

}
