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

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DateMilliVector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float2Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.TimeMicroVector;
import org.apache.arrow.vector.TimeMilliVector;
import org.apache.arrow.vector.TimeNanoVector;
import org.apache.arrow.vector.TimeSecVector;
import org.apache.arrow.vector.TimeStampMicroTZVector;
import org.apache.arrow.vector.TimeStampMicroVector;
import org.apache.arrow.vector.TimeStampMilliTZVector;
import org.apache.arrow.vector.TimeStampMilliVector;
import org.apache.arrow.vector.TimeStampNanoTZVector;
import org.apache.arrow.vector.TimeStampNanoVector;
import org.apache.arrow.vector.TimeStampSecTZVector;
import org.apache.arrow.vector.TimeStampSecVector;
import org.apache.arrow.vector.TinyIntVector;
import org.apache.arrow.vector.UInt1Vector;
import org.apache.arrow.vector.UInt2Vector;
import org.apache.arrow.vector.UInt4Vector;
import org.apache.arrow.vector.UInt8Vector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.complex.impl.UnionListWriter;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.lance.spring.stream.OpenBatch;
import org.lance.spring.stream.RecordBatch;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for values in JSON.
 */
class JsonValuesTests {

	private final BufferAllocator allocator = new RootAllocator();

	@AfterEach
	void nothingIsLeft() {
		assertThat(this.allocator.getAllocatedMemory()).isZero();
		this.allocator.close();
	}

	@Test
	void numbersAreWhatTheyAre() {
		UInt1Vector byteVector = new UInt1Vector("a", this.allocator);
		byteVector.setSafe(0, 255);
		UInt2Vector shortVector = new UInt2Vector("b", this.allocator);
		shortVector.setSafe(0, 65_535);
		UInt4Vector intVector = new UInt4Vector("c", this.allocator);
		intVector.setSafe(0, -1);
		UInt8Vector longVector = new UInt8Vector("d", this.allocator);
		longVector.setSafe(0, -1);
		DecimalVector decimal = new DecimalVector("e", this.allocator, 10, 2);
		decimal.setSafe(0, new BigDecimal("12345678.90"));
		Float8Vector real = new Float8Vector("f", this.allocator);
		real.setSafe(0, 0.1);
		BitVector bit = new BitVector("g", this.allocator);
		bit.setSafe(0, 1);
		IntVector none = new IntVector("h", this.allocator);
		none.setNull(0);
		assertThat(json(null, byteVector, shortVector, intVector, longVector, decimal, real, bit, none))
			.isEqualTo("{\"a\":255,\"b\":65535,\"c\":4294967295,\"d\":18446744073709551615,\"e\":12345678.90,\"f\":0.1,"
					+ "\"g\":true,\"h\":null}");
	}

	@Test
	void textBytesAndDatesAreText() {
		VarCharVector text = new VarCharVector("a", this.allocator);
		text.setSafe(0, "caf\u00e9 \"1\"".getBytes(StandardCharsets.UTF_8));
		VarBinaryVector bytes = new VarBinaryVector("b", this.allocator);
		bytes.setSafe(0, new byte[] { 1, 2, 3 });
		DateDayVector date = new DateDayVector("c", this.allocator);
		date.setSafe(0, 20_000);
		assertThat(json(null, text, bytes, date))
			.isEqualTo("{\"a\":\"caf\u00e9 \\\"1\\\"\",\"b\":\"AQID\",\"c\":\"2024-10-04\"}");
	}

	@Test
	void halfPrecisionNumbersAreNumbers() {
		Float2Vector half = new Float2Vector("a", this.allocator);
		half.setSafeWithPossibleTruncate(0, 1.5f);
		Float2Vector none = new Float2Vector("b", this.allocator);
		none.setNull(0);
		assertThat(json(null, half, none)).isEqualTo("{\"a\":1.5,\"b\":null}");
	}

	@Test
	void timesAreIsoText() {
		TimeSecVector seconds = new TimeSecVector("a", this.allocator);
		seconds.setSafe(0, 3600);
		TimeMilliVector millis = new TimeMilliVector("b", this.allocator);
		millis.setSafe(0, 3_600_001);
		TimeMicroVector micros = new TimeMicroVector("c", this.allocator);
		micros.setSafe(0, 3_600_000_001L);
		TimeNanoVector nanos = new TimeNanoVector("d", this.allocator);
		nanos.setSafe(0, 3_600_000_000_001L);
		TimeSecVector none = new TimeSecVector("e", this.allocator);
		none.setSafe(0, 86_400);
		assertThat(json(null, seconds, millis, micros, nanos, none))
			.isEqualTo("{\"a\":\"01:00:00\",\"b\":\"01:00:00.001\",\"c\":\"01:00:00.000001\","
					+ "\"d\":\"01:00:00.000000001\",\"e\":86400}");
	}

	@Test
	void timestampsWithoutAZoneAreIsoTextWithoutAnOffset() {
		TimeStampSecVector seconds = new TimeStampSecVector("a", this.allocator);
		seconds.setSafe(0, 1_728_000_000);
		TimeStampMilliVector millis = new TimeStampMilliVector("b", this.allocator);
		millis.setSafe(0, 1_728_000_000_001L);
		TimeStampMicroVector micros = new TimeStampMicroVector("c", this.allocator);
		micros.setSafe(0, -1);
		TimeStampNanoVector nanos = new TimeStampNanoVector("d", this.allocator);
		nanos.setSafe(0, Long.MAX_VALUE);
		TimeStampSecVector none = new TimeStampSecVector("e", this.allocator);
		none.setSafe(0, Long.MAX_VALUE);
		DateMilliVector date = new DateMilliVector("f", this.allocator);
		date.setSafe(0, 1_728_000_000_000L);
		assertThat(json(null, seconds, millis, micros, nanos, none, date))
			.isEqualTo("{\"a\":\"2024-10-04T00:00:00\",\"b\":\"2024-10-04T00:00:00.001\","
					+ "\"c\":\"1969-12-31T23:59:59.999999\",\"d\":\"2262-04-11T23:47:16.854775807\","
					+ "\"e\":9223372036854775807,\"f\":\"2024-10-04\"}");
	}

	@Test
	void timestampsWithAZoneAreIsoTextWithItsOffset() {
		TimeStampSecTZVector seconds = new TimeStampSecTZVector("a", this.allocator, "UTC");
		seconds.setSafe(0, 1_728_000_000);
		TimeStampMilliTZVector millis = new TimeStampMilliTZVector("b", this.allocator, "Asia/Shanghai");
		millis.setSafe(0, 1_728_000_000_001L);
		TimeStampMicroTZVector micros = new TimeStampMicroTZVector("c", this.allocator, "-05:00");
		micros.setSafe(0, 1_728_000_000_000_001L);
		TimeStampNanoTZVector nanos = new TimeStampNanoTZVector("d", this.allocator, "Mars/Olympus");
		nanos.setSafe(0, 1);
		assertThat(json(null, seconds, millis, micros, nanos))
			.isEqualTo("{\"a\":\"2024-10-04T00:00:00Z\",\"b\":\"2024-10-04T08:00:00.001+08:00\","
					+ "\"c\":\"2024-10-03T19:00:00.000001-05:00\",\"d\":\"1970-01-01T00:00:00.000000001Z\"}");
	}

	@Test
	void listsAndStructsAreNested() {
		ListVector list = ListVector.empty("list", this.allocator);
		UnionListWriter writer = list.getWriter();
		writer.startList();
		writer.writeInt(1);
		writer.writeInt(2);
		writer.endList();
		list.setValueCount(1);
		StructVector struct = StructVector.empty("struct", this.allocator);
		UInt8Vector inner = struct.addOrGet("id", FieldType.nullable(new ArrowType.Int(64, false)), UInt8Vector.class);
		inner.setSafe(0, -1);
		struct.setIndexDefined(0);
		struct.setValueCount(1);
		assertThat(json(null, list, struct)).isEqualTo("{\"list\":[1,2],\"struct\":{\"id\":18446744073709551615}}");
	}

	@Test
	void dictionaryColumnsAreTheirValues() {
		try (VarCharVector values = new VarCharVector("values", this.allocator)) {
			values.setSafe(0, "one".getBytes(StandardCharsets.UTF_8));
			values.setSafe(1, "two".getBytes(StandardCharsets.UTF_8));
			values.setValueCount(2);
			DictionaryEncoding encoding = new DictionaryEncoding(7, false, new ArrowType.Int(8, true));
			TinyIntVector indexes = new TinyIntVector("word", new FieldType(true, new ArrowType.Int(8, true), encoding),
					this.allocator);
			indexes.setSafe(0, 1);
			assertThat(json(new DictionaryProvider.MapDictionaryProvider(new Dictionary(values, encoding)), indexes))
				.isEqualTo("{\"word\":\"two\"}");
		}
	}

	private String json(DictionaryProvider dictionaries, FieldVector... columns) {
		for (FieldVector column : columns) {
			column.setValueCount(1);
		}
		try (VectorSchemaRoot root = new VectorSchemaRoot(List.of(columns));
				RecordBatch batch = RecordBatch.copyOf(root, dictionaries, this.allocator);
				OpenBatch open = batch.open(this.allocator)) {
			Map<String, Object> row = JsonValues.row(open, 0);
			return JsonMapper.shared().writeValueAsString(row);
		}
	}

}
