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

package org.lance.spring.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.compression.CompressionUtil;
import org.apache.arrow.vector.extension.OpaqueType;
import org.apache.arrow.vector.ipc.message.ArrowBodyCompression;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.UnionMode;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.testing.ArrowTypes;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.GeneratedBody;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Each rule of the validator: a good body, and the same one broken in one place.
 */
class BatchValidatorTests {

	private static final int ROWS = 11;

	@RegisterExtension
	final EngineExtension engine = new EngineExtension();

	static List<Field> allTypes() {
		return ArrowTypes.all();
	}

	@ParameterizedTest
	@MethodSource("allTypes")
	void whenBodyFitsThenItPasses(Field field) {
		for (int rows : new int[] { 0, 1, 9, 65 }) {
			for (double nulls : new double[] { 0, 0.3, 1 }) {
				try (GeneratedBody body = GeneratedBody.of(List.of(field, field), rows, this.engine.allocator(), rows,
						nulls)) {
					Schema schema = new Schema(List.of(field, field));
					assertThatNoException().as("%d rows", rows)
						.isThrownBy(() -> BatchValidator.validate(schema, body.body(), List.of()));
				}
			}
		}
	}

	@ParameterizedTest
	@MethodSource("allTypes")
	void whenColumnIsShortThenItIsRefused(Field field) {
		try (GeneratedBody body = body(field)) {
			assertThatExceptionOfType(InvalidRecordBatchException.class)
				.isThrownBy(() -> BatchValidator.validate(new Schema(List.of(field)), body.body(ROWS + 1), List.of()))
				.withMessageContaining("Column '%s': %d values, but the batch has %d rows; call setValueCount(%d)",
						field.getName(), ROWS, ROWS + 1, ROWS + 1);
		}
	}

	@ParameterizedTest
	@MethodSource("allTypes")
	void whenAnyNeededBufferIsOneByteShortThenItIsRefused(Field field) {
		int buffers;
		try (GeneratedBody body = body(field)) {
			buffers = body.buffers().size();
		}
		for (int i = 0; i < buffers; i++) {
			try (GeneratedBody body = GeneratedBody.of(List.of(field), ROWS, this.engine.allocator(), 42, 0)) {
				ArrowBuf buffer = body.buffers().get(i);
				if (buffer.capacity() == 0 || isViewData(field, i)) {
					continue;
				}
				// One byte of validity is as good as none: then it is left out.
				buffer.writerIndex(Math.max(buffer.capacity() - 1, 0));
				if (buffer.writerIndex() > 0) {
					assertRefused(body, field, "need");
				}
			}
		}
	}

	private static boolean isViewData(Field field, int index) {
		return index == 2 && field.getName().endsWith("view") && field.getChildren().isEmpty();
	}

	@ParameterizedTest
	@MethodSource("allTypes")
	void whenPartsAreMissingOrLeftOverThenItIsRefused(Field field) {
		change(field, (body) -> body.nodes().remove(body.nodes().size() - 1), "field nodes");
		change(field, (body) -> body.nodes().add(new ArrowFieldNode(ROWS, 0)), "field nodes");
		change(field, (body) -> body.buffers().add(this.engine.allocator().getEmpty()), "buffers");
		change(field, (body) -> body.variadicCounts().add(0L), "counts of data buffers");
		try (GeneratedBody body = body(field)) {
			if (!body.buffers().isEmpty()) {
				body.buffers().remove(body.buffers().size() - 1).close();
				assertRefused(body, field, "");
			}
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, ROWS + 1, Integer.MAX_VALUE, Integer.MIN_VALUE })
	void whenNullCountIsOutOfRangeThenItIsRefused(int nullCount) {
		for (Field field : ArrowTypes.all()) {
			change(field, (body) -> body.nodes().set(0, new ArrowFieldNode(ROWS, nullCount)),
					"Column '%s': a null count of %d in %d values".formatted(field.getName(), nullCount, ROWS));
		}
	}

	@Test
	void whenLengthIsNegativeThenItIsRefused() {
		change(ArrowTypes.field("a", ArrowTypes.INT32), (body) -> body.nodes().set(0, new ArrowFieldNode(-1, 0)),
				"Column 'a': -1 values");
		try (GeneratedBody body = body(ArrowTypes.field("a", ArrowTypes.INT32))) {
			assertThatExceptionOfType(InvalidRecordBatchException.class)
				.isThrownBy(() -> BatchValidator.validate(new Schema(List.of()), body.body(-1), List.of()))
				.withMessage("The batch has -1 rows");
		}
	}

	@Test
	void whenNullCountDiffersFromValidityThenItIsRefused() {
		Field field = ArrowTypes.field("a", ArrowTypes.INT32);
		change(field, (body) -> body.buffers().get(0).setByte(1, body.buffers().get(0).getByte(1) ^ 1),
				"a null count of");
		change(field, (body) -> {
			body.buffers().get(0).setOne(0, 2L);
			body.nodes().set(0, new ArrowFieldNode(ROWS, 1));
		}, "Column 'a': a null count of 1, but its validity buffer has 0 nulls");
	}

	@Test
	void whenBitsBehindTheLastValueAreSetThenTheyDontCount() {
		Field field = ArrowTypes.field("a", ArrowTypes.INT32);
		try (GeneratedBody body = body(field)) {
			body.buffers().get(0).setOne(0, 2L);
			body.nodes().set(0, new ArrowFieldNode(ROWS, 0));
			assertThat(validate(body, field)).isEmpty();
		}
	}

	@Test
	void whenValidityIsLeftOutThenItIsReported() {
		Field struct = ArrowTypes.field("s", ArrowType.Struct.INSTANCE, ArrowTypes.field("a", ArrowTypes.INT32),
				ArrowTypes.field("b", ArrowTypes.UTF8));
		try (GeneratedBody body = body(struct)) {
			for (int i : new int[] { 0, 1, 3 }) {
				body.buffers().get(i).writerIndex(0);
			}
			body.nodes().set(0, new ArrowFieldNode(ROWS, 0));
			body.nodes().set(1, new ArrowFieldNode(ROWS, ROWS));
			body.nodes().set(2, new ArrowFieldNode(ROWS, 0));
			assertThat(validate(body, struct)).containsExactly(new SealedBuffers.MissingValidity(0, ROWS, false),
					new SealedBuffers.MissingValidity(1, ROWS, true),
					new SealedBuffers.MissingValidity(3, ROWS, false));
			body.nodes().set(1, new ArrowFieldNode(ROWS, 3));
			assertRefused(body, struct,
					"Column 's.a': 3 nulls in 11 values need a validity buffer of 2 bytes, but it has 0");
		}
	}

	@Test
	void whenThereAreNoRowsThenEmptyBuffersAreEnough() {
		for (Field field : ArrowTypes.all()) {
			try (GeneratedBody body = GeneratedBody.of(List.of(field), 0, this.engine.allocator(), 1, 0)) {
				body.buffers().forEach((buffer) -> buffer.writerIndex(0));
				boolean childrenHaveRows = body.nodes().stream().anyMatch((node) -> node.getLength() > 0);
				if (!childrenHaveRows) {
					assertThat(validate(body, field)).isEmpty();
				}
			}
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 4, 8 })
	void whenOffsetsAreBadThenTheyAreRefused(int width) {
		ArrowType text = (width == 4) ? ArrowTypes.UTF8 : ArrowType.LargeUtf8.INSTANCE;
		ArrowType list = (width == 4) ? ArrowType.List.INSTANCE : ArrowType.LargeList.INSTANCE;
		for (Field field : List.of(ArrowTypes.field("a", text),
				ArrowTypes.field("l", list, ArrowTypes.field("item", ArrowTypes.INT8)))) {
			change(field, (body) -> set(body.buffers().get(1), width, 0, -1), "its first offset is -1");
			change(field, (body) -> set(body.buffers().get(1), width, 3, 1000000), "offsets must not go back");
			change(field, (body) -> set(body.buffers().get(1), width, 3, -5), "the offset at index 3 is -5");
			change(field, (body) -> set(body.buffers().get(1), width, ROWS, 1000000), "1000000");
			change(field,
					(body) -> set(body.buffers().get(1), width, ROWS,
							(width == 4) ? Integer.MAX_VALUE : Long.MAX_VALUE),
					(width == 4) ? "2147483647" : "9223372036854775807");
			change(field,
					(body) -> set(body.buffers().get(1), width, 5, (width == 4) ? Integer.MIN_VALUE : Long.MIN_VALUE),
					"offsets must not go back");
			try (GeneratedBody body = GeneratedBody.of(List.of(field), 0, this.engine.allocator(), 1, 0)) {
				body.buffers().get(1).writerIndex(width - 1);
				assertRefused(body, field, "an offset needs");
			}
			try (GeneratedBody body = GeneratedBody.of(List.of(field), 0, this.engine.allocator(), 1, 0)) {
				set(body.buffers().get(1), width, 0, 1);
				assertRefused(body, field, "");
			}
		}
	}

	@Test
	void whenIndexesOfABufferLeadBeyondItThenTheBytesDontCount() {
		Field field = ArrowTypes.field("a", ArrowTypes.INT32);
		change(field, (body) -> {
			ArrowBuf values = body.buffers().get(1);
			body.buffers().set(1, values.slice(0, 8).writerIndex(4 * ROWS));
		}, "Column 'a': 11 values need a buffer of 44 bytes, but it has 8");
	}

	@Test
	void whenChildIsShortThenItIsRefused() {
		Field item = ArrowTypes.field("item", ArrowTypes.INT32);
		Field fixed = ArrowTypes.field("f", new ArrowType.FixedSizeList(3), item);
		change(fixed, (body) -> body.nodes().set(1, node(3 * ROWS - 1, body, 1)),
				"Column 'f.item': 32 values, but 11 lists of size 3 need 33");
		Field huge = ArrowTypes.field("f", new ArrowType.FixedSizeList(Integer.MAX_VALUE), item);
		try (GeneratedBody body = body(fixed)) {
			assertRefused(body, huge, "need 23622320117");
			assertRefused(body, ArrowTypes.field("f", new ArrowType.FixedSizeList(-1), item),
					"the list size must be 0 or more");
		}
		Field struct = ArrowTypes.field("s", ArrowType.Struct.INSTANCE, item);
		change(struct, (body) -> body.nodes().set(1, node(ROWS - 1, body, 1)),
				"Column 's.item': 10 values, but its struct has 11; call setValueCount on the outermost vector");
		Field list = ArrowTypes.field("outer", ArrowType.Struct.INSTANCE,
				ArrowTypes.field("l", ArrowType.List.INSTANCE, item));
		change(list, (body) -> body.nodes().set(2, node(body.nodes().get(2).getLength() - 1, body, 3)),
				"Column 'outer.l.item'");
		change(ArrowTypes.map("m"), (body) -> body.nodes().set(1, node(body.nodes().get(1).getLength() - 1, body, 2)),
				"Column 'm.entries'");
		change(ArrowTypes.map("m"), (body) -> body.nodes().set(2, node(body.nodes().get(2).getLength() - 1, body, 3)),
				"Column 'm.entries.key'");
	}

	/**
	 * A shorter node with the null count that its validity then has.
	 */
	private static ArrowFieldNode node(int length, GeneratedBody body, int validity) {
		ArrowBuf bits = body.buffers().get(validity);
		return new ArrowFieldNode(length, length - Scan.countSet(bits.memoryAddress(), length));
	}

	@Test
	void whenMapKeyOrEntryIsNullThenItIsRefused() {
		Field map = ArrowTypes.map("m");
		Field open = ArrowTypes.field("m", new ArrowType.Map(false),
				ArrowTypes.field("entries", ArrowType.Struct.INSTANCE, ArrowTypes.field("key", ArrowTypes.INT8),
						ArrowTypes.field("value", ArrowTypes.INT32)));
		try (GeneratedBody body = GeneratedBody.of(List.of(open), ROWS, this.engine.allocator(), 3, 0.5)) {
			assertRefused(body, open, "has a null entry or a null key");
		}
		for (int part : new int[] { 1, 2 }) {
			change(map, (body) -> {
				int entries = body.nodes().get(part).getLength();
				ArrowBuf bits = body.buffers().get(part + 1);
				bits.setByte(0, bits.getByte(0) & ~1);
				body.nodes().set(part, new ArrowFieldNode(entries, 1));
				body.buffers().get(0).setOne(0, 2L);
				body.nodes().set(0, new ArrowFieldNode(ROWS, 0));
			}, "has a null entry or a null key");
		}
		change(ArrowTypes.field("m", new ArrowType.Map(false), ArrowTypes.field("entries", ArrowTypes.INT32)),
				(body) -> {
				}, "must be a struct of key and value");
	}

	@Test
	void whenMapSlotIsNullThenItsEntriesDontCount() {
		Field map = ArrowTypes.map("m");
		try (GeneratedBody body = body(map)) {
			int entries = body.nodes().get(2).getLength();
			body.buffers().get(3).setZero(0, body.buffers().get(3).capacity());
			body.nodes().set(2, new ArrowFieldNode(entries, entries));
			body.buffers().get(0).setZero(0, 2);
			body.nodes().set(0, new ArrowFieldNode(ROWS, ROWS));
			assertThat(validate(body, map)).isEmpty();
		}
	}

	@Test
	void whenListViewLeavesItsChildThenItIsRefused() {
		for (int width : new int[] { 4, 8 }) {
			ArrowType type = (width == 4) ? ArrowType.ListView.INSTANCE : ArrowType.LargeListView.INSTANCE;
			Field field = ArrowTypes.field("v", type, ArrowTypes.field("item", ArrowTypes.INT32));
			long max = (width == 4) ? Integer.MAX_VALUE : Long.MAX_VALUE;
			for (long[] bad : new long[][] { { -1, 0 }, { 0, -1 }, { ROWS + 4, 0 }, { 0, ROWS + 4 }, { 1, max },
					{ max, max }, { ROWS + 3, 1 } }) {
				change(field, (body) -> {
					allValid(body, 0, 0);
					set(body.buffers().get(1), width, 4, bad[0]);
					set(body.buffers().get(2), width, 4, bad[1]);
				}, "Column 'v': the list at index 4 has offset %d and size %d".formatted(bad[0], bad[1]));
			}
			try (GeneratedBody body = body(field)) {
				allNull(body, 0, 0);
				set(body.buffers().get(1), width, 4, -1);
				assertThat(validate(body, field)).isEmpty();
			}
		}
	}

	@Test
	void whenViewLeavesItsBuffersThenItIsRefused() {
		for (ArrowType type : List.of(ArrowType.Utf8View.INSTANCE, ArrowType.BinaryView.INSTANCE)) {
			Field field = ArrowTypes.field("v", type);
			for (int[] bad : new int[][] { { 13, -1, 0 }, { 13, 1, 0 }, { 13, 0, -1 }, { 13, 0, 208 }, { 221, 0, 0 },
					{ -1, 0, 0 }, { Integer.MAX_VALUE, 0, Integer.MAX_VALUE }, { Integer.MIN_VALUE, 0, 0 } }) {
				change(field, (body) -> {
					allValid(body, 0, 0);
					view(body, 10, bad);
				}, "Column 'v': the view at index 10 (length %d, buffer %d, offset %d) leaves its 1 data buffers"
					.formatted(bad[0], bad[1], bad[2]));
			}
			try (GeneratedBody body = body(field)) {
				allNull(body, 0, 0);
				view(body, 10, new int[] { -1, -1, -1 });
				assertThat(validate(body, field)).isEmpty();
			}
			try (GeneratedBody body = body(field)) {
				allValid(body, 0, 0);
				view(body, 10, new int[] { 12, -1, -1 });
				assertThat(validate(body, field)).isEmpty();
			}
			for (Long count : new Long[] { -1L, 2L, Long.MAX_VALUE, null }) {
				change(field, (body) -> body.variadicCounts().set(0, count), "this column says that");
			}
			change(field, (body) -> body.variadicCounts().clear(), "each column of views needs one");
		}
	}

	private static void view(GeneratedBody body, int index, int[] parts) {
		body.buffers().get(1).setInt(16L * index, parts[0]);
		body.buffers().get(1).setInt(16L * index + 8, parts[1]);
		body.buffers().get(1).setInt(16L * index + 12, parts[2]);
	}

	@Test
	void whenUnionRefersToNoChildThenItIsRefused() {
		Field dense = ArrowTypes.field("u", new ArrowType.Union(UnionMode.Dense, new int[] { 5, 7 }),
				ArrowTypes.field("i", ArrowTypes.INT32), ArrowTypes.field("s", ArrowTypes.UTF8));
		Field sparse = ArrowTypes.field("u", new ArrowType.Union(UnionMode.Sparse, new int[] { 5, 7 }),
				dense.getChildren().get(0), dense.getChildren().get(1));
		for (Field field : List.of(dense, sparse)) {
			for (int id : new int[] { 1, 6, 127, -128, -2 }) {
				change(field, (body) -> body.buffers().get(0).setByte(3, id),
						"Column 'u': the type id at index 3 is %d, which is none of".formatted(id));
			}
		}
		change(dense, (body) -> body.buffers().get(0).setByte(3, 0), "type id");
		change(sparse, (body) -> body.buffers().get(0).setByte(3, -1), "type id");
		for (int offset : new int[] { -1, ROWS, Integer.MAX_VALUE, Integer.MIN_VALUE }) {
			change(dense, (body) -> body.buffers().get(1).setInt(12, offset), "the offset at index 3 is " + offset);
		}
		change(sparse, (body) -> body.nodes().set(1, node(ROWS - 1, body, 1)),
				"Column 'u.i': 10 values, but its union has 11");
		for (int[] ids : new int[][] { { 5 }, { 5, 5 }, { 5, 128 }, { -1, 5 } }) {
			try (GeneratedBody body = body(dense)) {
				assertRefused(
						body, ArrowTypes.field("u", new ArrowType.Union(UnionMode.Dense, ids),
								dense.getChildren().get(0), dense.getChildren().get(1)),
						"must be different, between 0 and 127");
			}
		}
	}

	@Test
	void whenUnionSlotWasNeverSetThenItPasses() {
		Field dense = ArrowTypes.field("u", new ArrowType.Union(UnionMode.Dense, new int[] { 5 }),
				ArrowTypes.field("i", ArrowTypes.INT32));
		try (GeneratedBody body = body(dense)) {
			body.buffers().get(0).setByte(3, -1);
			body.buffers().get(1).setInt(12, 1000);
			assertThat(validate(body, dense)).isEmpty();
		}
		Field sparse = ArrowTypes.field("u", new ArrowType.Union(UnionMode.Sparse, new int[] { 5 }),
				ArrowTypes.field("i", ArrowTypes.INT32));
		try (GeneratedBody body = body(sparse)) {
			body.buffers().get(0).setByte(3, 0);
			assertThat(validate(body, sparse)).isEmpty();
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 16, 32, 64 })
	void whenRunEndsAreBadThenTheyAreRefused(int bits) {
		Field field = ArrowTypes.field("r", ArrowType.RunEndEncoded.INSTANCE,
				new Field("run_ends", FieldType.notNullable(new ArrowType.Int(bits, true)), null),
				ArrowTypes.field("values", ArrowTypes.UTF8));
		int width = bits / 8;
		change(field, (body) -> set(body.buffers().get(1), width, 0, 0), "the run end at index 0 is 0");
		change(field, (body) -> set(body.buffers().get(1), width, 0, -3), "the run end at index 0 is -3");
		change(field, (body) -> set(body.buffers().get(1), width, 2, 6), "run ends must be positive and grow");
		change(field, (body) -> set(body.buffers().get(1), width, 3, ROWS - 1),
				"its runs end at 10, but it has 11 values");
		change(field, (body) -> {
			body.buffers().get(0).setByte(0, 0b1110);
			body.nodes().set(1, new ArrowFieldNode(4, 1));
		}, "1 of its run ends are null");
		change(field, (body) -> body.nodes().set(2, node(3, body, 2)),
				"Column 'r.values': 3 values, but there are 4 run ends");
		change(field, (body) -> {
			body.nodes().set(1, new ArrowFieldNode(0, 0));
			body.nodes().set(2, new ArrowFieldNode(0, 0));
		}, "its runs end at 0, but it has 11 values");
		try (GeneratedBody body = body(field)) {
			Field unsigned = ArrowTypes.field("r", ArrowType.RunEndEncoded.INSTANCE,
					ArrowTypes.field("run_ends", new ArrowType.Int(bits, false)),
					ArrowTypes.field("values", ArrowTypes.UTF8));
			assertRefused(body, unsigned, "run ends must be signed integers");
		}
	}

	@Test
	void whenTypeHasNoVectorThenItIsRefused() {
		try (GeneratedBody body = body(ArrowTypes.field("d", new ArrowType.Decimal(38, 2, 128)))) {
			assertRefused(body, ArrowTypes.field("d", new ArrowType.Decimal(9, 2, 64)), "is not supported");
			assertRefused(body, ArrowTypes.field("d", new ArrowType.Decimal(9, 2, 512)), "is not supported");
			assertRefused(body, ArrowTypes.field("d", new ArrowType.Int(128, true)), "is not supported");
			assertRefused(body, ArrowTypes.field("d", new ArrowType.FixedSizeBinary(-1)), "is not supported");
		}
	}

	@Test
	void whenArrowCannotLoadTheTypeThenItIsRefused() {
		ArrowType.ExtensionType type = new OpaqueType(ArrowType.Utf8View.INSTANCE, "t", "v");
		try (GeneratedBody body = body(ArrowTypes.field("v", ArrowType.Utf8View.INSTANCE))) {
			assertRefused(body, ArrowTypes.field("v", type), "can't load an extension type over");
		}
		ArrowType.ExtensionType fine = new OpaqueType(ArrowTypes.UTF8, "t", "v");
		try (GeneratedBody body = body(ArrowTypes.field("v", fine))) {
			assertThat(validate(body, ArrowTypes.field("v", fine))).isEmpty();
		}
	}

	@Test
	void whenFieldHasTheWrongNumberOfChildrenThenItIsRefused() {
		Field item = ArrowTypes.field("item", ArrowTypes.INT32);
		for (ArrowType type : List.of(ArrowTypes.INT32, ArrowTypes.UTF8, ArrowType.Utf8View.INSTANCE)) {
			change(ArrowTypes.field("a", type), ArrowTypes.field("a", type, item),
					"has no children, but the field has 1");
		}
		change(ArrowTypes.field("l", ArrowType.List.INSTANCE, item), ArrowTypes.field("l", ArrowType.List.INSTANCE),
				"has 1 children");
		change(ArrowTypes.field("l", ArrowType.List.INSTANCE, item),
				ArrowTypes.field("l", ArrowType.List.INSTANCE, item, item), "has 1 children");
		change(ArrowTypes.field("l", ArrowType.ListView.INSTANCE, item),
				ArrowTypes.field("l", ArrowType.ListView.INSTANCE), "has 1 children");
		change(ArrowTypes.field("l", new ArrowType.FixedSizeList(1), item),
				ArrowTypes.field("l", new ArrowType.FixedSizeList(1)), "has 1 children");
		change(ArrowTypes.nested().get(9), ArrowTypes.field("r", ArrowType.RunEndEncoded.INSTANCE), "has 2 children");
	}

	@Test
	void whenNestedTooDeeplyThenItIsRefused() {
		Field field = ArrowTypes.field("leaf", ArrowTypes.INT32);
		for (int i = 0; i < 10000; i++) {
			field = ArrowTypes.field("s", ArrowType.Struct.INSTANCE, field);
		}
		Field deep = field;
		Field flat = deep;
		while (!flat.getChildren().isEmpty()) {
			flat = flat.getChildren().get(0);
		}
		List<ArrowFieldNode> nodes = new ArrayList<>();
		try (GeneratedBody body = body(flat)) {
			for (int i = 0; i < 10000; i++) {
				nodes.add(new ArrowFieldNode(ROWS, 0));
				body.buffers().add(0, this.engine.allocator().getEmpty());
			}
			body.nodes().addAll(0, nodes);
			assertRefused(body, deep, "nested deeper than 64 levels");
		}
	}

	@Test
	void whenBodyIsCompressedThenItIsRefused() {
		Field field = ArrowTypes.field("a", ArrowTypes.INT32);
		try (GeneratedBody body = body(field)) {
			ArrowRecordBatch compressed = new ArrowRecordBatch(ROWS, body.nodes(), body.buffers(),
					new ArrowBodyCompression(CompressionUtil.CodecType.ZSTD.getType(), (byte) 0), null, true, false);
			assertThatExceptionOfType(InvalidRecordBatchException.class)
				.isThrownBy(() -> BatchValidator.validate(new Schema(List.of(field)), compressed, List.of()))
				.withMessageContaining("compressed");
		}
	}

	static Stream<ArrowType.Int> indexTypes() {
		return Stream.of(8, 16, 32, 64)
			.flatMap((bits) -> Stream.of(new ArrowType.Int(bits, true), new ArrowType.Int(bits, false)));
	}

	@ParameterizedTest
	@MethodSource("indexTypes")
	void whenDictionaryIndexHasNoValueThenItIsRefused(ArrowType.Int type) {
		Field column = ArrowTypes.indexes("d", 9, type);
		Field nested = ArrowTypes.field("l", ArrowType.List.INSTANCE,
				ArrowTypes.field("s", ArrowType.Struct.INSTANCE, column));
		int width = type.getBitWidth() / 8;
		try (DictionaryVersion version = dictionary(9, GeneratedBody.DICTIONARY_SIZE)) {
			for (Field field : List.of(column, nested)) {
				int values = (field == column) ? 1 : 4;
				try (GeneratedBody body = body(field)) {
					assertThat(BatchValidator.validate(new Schema(List.of(field)), body.body(), List.of(version)))
						.isEmpty();
					assertRefused(body, field, "dictionary 9 is missing");
				}
				for (int index : new int[] { 5, 127, -1, -128 }) {
					try (GeneratedBody body = body(field)) {
						allValid(body, body.nodes().size() - 1, values - 1);
						set(body.buffers().get(values), width, 2, index);
						String path = (field == column) ? "Column 'd': " : "Column 'l.s.d': ";
						assertThatExceptionOfType(InvalidRecordBatchException.class)
							.isThrownBy(() -> BatchValidator.validate(new Schema(List.of(field)), body.body(),
									List.of(version)))
							.withMessageContaining(path)
							.withMessageContaining("dictionary 9");
						allNull(body, body.nodes().size() - 1, values - 1);
						assertThat(BatchValidator.validate(new Schema(List.of(field)), body.body(), List.of(version)))
							.isEmpty();
					}
				}
			}
		}
	}

	@Test
	void whenSomeIndexesAreNullThenOnlyTheOthersCount() {
		Field field = ArrowTypes.indexes("d", 9, new ArrowType.Int(32, true));
		try (DictionaryVersion version = dictionary(9, GeneratedBody.DICTIONARY_SIZE);
				GeneratedBody body = body(field)) {
			allValid(body, 0, 0);
			body.buffers().get(0).setByte(0, 0b11111011);
			body.nodes().set(0, new ArrowFieldNode(ROWS, 1));
			body.buffers().get(1).setInt(8, -77);
			List<DictionaryVersion> versions = List.of(version);
			assertThat(BatchValidator.validate(new Schema(List.of(field)), body.body(), versions)).isEmpty();
			body.buffers().get(1).setInt(12, 5);
			assertThatExceptionOfType(InvalidRecordBatchException.class)
				.isThrownBy(() -> BatchValidator.validate(new Schema(List.of(field)), body.body(), versions))
				.withMessageContaining("Column 'd': index 5, but dictionary 9 has 5 values");
		}
	}

	@Test
	void whenDictionaryColumnHasTheTypeOfItsValuesThenItIsRefused() {
		Field field = new Field("d",
				new FieldType(true, ArrowTypes.UTF8, new DictionaryEncoding(1, false, null), Map.of()), null);
		try (GeneratedBody body = body(field)) {
			assertRefused(body, field, "a dictionary column must have the type of its indexes");
		}
	}

	@Test
	void whenValuesOfADictionaryAreEncodedThemselvesThenTheirIndexesCount() {
		Field outerValues = ArrowTypes.indexes("values", 2, new ArrowType.Int(8, true));
		Field column = ArrowTypes.indexes("d", 1, new ArrowType.Int(8, true));
		Schema schema = new Schema(List.of(column));
		try (GeneratedBody values = GeneratedBody.of(List.of(outerValues), 5, this.engine.allocator(), 1, 0)) {
			values.buffers().get(1).setByte(4, 4);
			try (DictionaryVersion outer = DictionaryVersion.seal(1, outerValues, values.body(), null,
					this.engine.allocator());
					DictionaryVersion enough = dictionary(2, 5);
					DictionaryVersion less = dictionary(2, 4);
					GeneratedBody body = body(column)) {
				assertThat(BatchValidator.validate(schema, body.body(), List.of(outer, enough))).isEmpty();
				assertThatExceptionOfType(InvalidRecordBatchException.class)
					.isThrownBy(() -> BatchValidator.validate(schema, body.body(), List.of(outer, less)))
					.withMessage("Dictionary 1: its values have the index 4, but dictionary 2 has 4 values");
				assertThatExceptionOfType(InvalidRecordBatchException.class)
					.isThrownBy(() -> BatchValidator.validate(schema, body.body(), List.of(outer)))
					.withMessage("Dictionary 2 is missing, which the values of dictionary 1 refer to");
				assertThatExceptionOfType(InvalidRecordBatchException.class)
					.isThrownBy(() -> BatchValidator.validate(schema, body.body(), List.of(outer, enough, less)))
					.withMessageContaining("Dictionary 2 is given twice");
			}
		}
	}

	@Test
	void whenDictionaryValuesAreBadThenTheMessageNamesTheDictionary() {
		Field field = ArrowTypes.field("words", ArrowTypes.UTF8);
		try (GeneratedBody body = body(field)) {
			body.buffers().get(1).setInt(0, -1);
			assertThatExceptionOfType(InvalidRecordBatchException.class)
				.isThrownBy(() -> DictionaryVersion.seal(7, field, body.body(), null, this.engine.allocator()))
				.withMessageContaining("Dictionary 7, column 'words': its first offset is -1");
		}
	}

	private DictionaryVersion dictionary(long id, int size) {
		Field field = ArrowTypes.field("value", ArrowTypes.UTF8);
		try (GeneratedBody body = GeneratedBody.of(List.of(field), size, this.engine.allocator(), 1, 0)) {
			return DictionaryVersion.seal(id, field, body.body(), null, this.engine.allocator());
		}
	}

	private GeneratedBody body(Field field) {
		return GeneratedBody.of(List.of(field), ROWS, this.engine.allocator(), 42, 0.3);
	}

	/**
	 * Breaks a good body.
	 */
	private void change(Field field, Consumer<GeneratedBody> change, String message) {
		try (GeneratedBody body = body(field)) {
			validate(body, field);
			change.accept(body);
			assertRefused(body, field, message);
		}
		catch (InvalidRecordBatchException ex) {
			assertThat(ex).as("the unchanged body").hasMessageContaining(message);
		}
	}

	/**
	 * Validates a body against the field of another.
	 */
	private void change(Field field, Field other, String message) {
		try (GeneratedBody body = body(field)) {
			validate(body, field);
			assertRefused(body, other, message);
		}
	}

	private static List<SealedBuffers.MissingValidity> validate(GeneratedBody body, Field field) {
		return BatchValidator.validate(new Schema(List.of(field)), body.body(), List.of());
	}

	private static void assertRefused(GeneratedBody body, Field field, String message) {
		assertThatExceptionOfType(InvalidRecordBatchException.class).as("%s: %s", field.getName(), message)
			.isThrownBy(() -> validate(body, field))
			.withMessageContaining(message);
	}

	private static void allValid(GeneratedBody body, int node, int validity) {
		ArrowBuf bits = body.buffers().get(validity);
		bits.setOne(0, bits.capacity());
		body.nodes().set(node, new ArrowFieldNode(body.nodes().get(node).getLength(), 0));
	}

	private static void allNull(GeneratedBody body, int node, int validity) {
		ArrowBuf bits = body.buffers().get(validity);
		bits.setZero(0, bits.capacity());
		int length = body.nodes().get(node).getLength();
		body.nodes().set(node, new ArrowFieldNode(length, length));
	}

	private static void set(ArrowBuf buffer, int width, int index, long value) {
		switch (width) {
			case 1 -> buffer.setByte(index, (int) value);
			case 2 -> buffer.setShort(2L * index, (int) value);
			case 4 -> buffer.setInt(4L * index, (int) value);
			default -> buffer.setLong(8L * index, value);
		}
	}

}
