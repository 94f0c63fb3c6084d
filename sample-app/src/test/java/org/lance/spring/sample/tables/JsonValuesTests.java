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
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
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
