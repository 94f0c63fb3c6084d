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

import java.util.List;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.types.UnionMode;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Validates columns of all types, each against its own buffers and its children.
 */
final class ColumnValidator {

	/**
	 * As deep as Arrow's own readers go; every level costs them, and us, stack.
	 */
	static final int MAX_DEPTH = 64;

	private final BodyCursor cursor;

	private final IndexUse indexes;

	private int depth;

	ColumnValidator(BodyCursor cursor, IndexUse indexes) {
		this.cursor = cursor;
		this.indexes = indexes;
	}

	/**
	 * Validates a column and everything below it.
	 * @param field the field where the cursor is
	 * @return what its parent has to know
	 */
	Column column(Field field) {
		this.cursor.enter(field);
		if (++this.depth > MAX_DEPTH) {
			throw this.cursor.failure("nested deeper than %d levels", MAX_DEPTH);
		}
		ArrowType type = storage(field.getType());
		if (field.getDictionary() != null && !(type instanceof ArrowType.Int)) {
			throw this.cursor.failure(
					"a dictionary column must have the type of its indexes, an integer, but has %s; use the schema of "
							+ "the vectors",
					type);
		}
		ArrowFieldNode node = this.cursor.node();
		Column column = switch (type.getTypeID()) {
			case Null -> withoutChildren(field, new Column(node.getLength(), node.getLength(), 0));
			case Struct -> struct(field, this.cursor.validity(node));
			case List -> list(field, this.cursor.validity(node), Integer.BYTES);
			case Map -> map(field, this.cursor.validity(node));
			case LargeList -> list(field, this.cursor.validity(node), Long.BYTES);
			case ListView -> listView(field, this.cursor.validity(node), Integer.BYTES);
			case LargeListView -> listView(field, this.cursor.validity(node), Long.BYTES);
			case FixedSizeList ->
				fixedSizeList(field, this.cursor.validity(node), ((ArrowType.FixedSizeList) type).getListSize());
			case Union -> union(field, (ArrowType.Union) type, Column.of(node));
			case RunEndEncoded -> runEndEncoded(field, Column.of(node));
			case Utf8, Binary -> variableWidth(field, this.cursor.validity(node), Integer.BYTES);
			case LargeUtf8, LargeBinary -> variableWidth(field, this.cursor.validity(node), Long.BYTES);
			case Utf8View, BinaryView -> view(field, this.cursor.validity(node));
			default -> fixedWidth(field, type, this.cursor.validity(node));
		};
		this.depth--;
		this.cursor.leave();
		return column;
	}

	private static ArrowType storage(ArrowType type) {
		ArrowType storage = type;
		while (storage instanceof ArrowType.ExtensionType extension) {
			storage = extension.storageType();
		}
		return storage;
	}

	private Column withoutChildren(Field field, Column column) {
		if (!field.getChildren().isEmpty()) {
			throw this.cursor.failure("type %s has no children, but the field has %d", field.getType(),
					field.getChildren().size());
		}
		return column;
	}

	private List<Field> children(Field field, int count) {
		if (field.getChildren().size() != count) {
			throw this.cursor.failure("type %s has %d children, but the field has %d", field.getType(), count,
					field.getChildren().size());
		}
		return field.getChildren();
	}

	private Column fixedWidth(Field field, ArrowType type, Column column) {
		int bits = FixedWidths.bits(type);
		if (bits < 0) {
			throw this.cursor.failure("type %s is not supported", type);
		}
		long address = this.cursor.data((column.length() * (long) bits + 7) / 8, "values", column.length());
		DictionaryEncoding encoding = field.getDictionary();
		if (encoding != null && type instanceof ArrowType.Int index) {
			this.indexes.used(encoding.getId(), IndexScan.highest(address, index, column));
		}
		return withoutChildren(field, column);
	}

	private Column variableWidth(Field field, Column column, int width) {
		long end = this.cursor.offsets(column.length(), width);
		this.cursor.data(end, "bytes that its offsets lead to", end);
		return withoutChildren(field, column);
	}

	private Column view(Field field, Column column) {
		if (field.getType() instanceof ArrowType.ExtensionType) {
			throw this.cursor.failure("Arrow Java can't load an extension type over %s", storage(field.getType()));
		}
		long views = this.cursor.data(column.length() * (long) Scan.VIEW_BYTES, "views", column.length());
		List<ArrowBuf> data = this.cursor.variadicBuffers();
		long[] sizes = new long[data.size()];
		for (int i = 0; i < sizes.length; i++) {
			sizes[i] = SealedBuffers.available(data.get(i));
		}
		int bad = Scan.badView(views, sizes, column);
		if (bad >= 0) {
			throw this.cursor.failure("the view at index %d (%s) leaves its %d data buffers", bad,
					Scan.describeView(views, bad), sizes.length);
		}
		return withoutChildren(field, column);
	}

	private Column struct(Field field, Column column) {
		for (Field child : field.getChildren()) {
			requireLength(child, column(child), column.length(), "its struct has %d".formatted(column.length()));
		}
		return column;
	}

	private void requireLength(Field child, Column column, long needed, String why) {
		if (column.length() < needed) {
			this.cursor.enter(child);
			throw this.cursor.failure("%d values, but %s; call setValueCount on the outermost vector when all its "
					+ "children are filled", column.length(), why);
		}
	}

	private Column list(Field field, Column column, int width) {
		long end = this.cursor.offsets(column.length(), width);
		Field child = children(field, 1).get(0);
		requireLength(child, column(child), end, "the offsets of its list end at %d".formatted(end));
		return column;
	}

	private Column map(Field field, Column column) {
		Field entries = children(field, 1).get(0);
		if (!(storage(entries.getType()) instanceof ArrowType.Struct) || entries.getChildren().size() != 2) {
			throw this.cursor.failure("the child of a map must be a struct of key and value, but is %s", entries);
		}
		int first = this.cursor.nextBuffer();
		long end = this.cursor.offsets(column.length(), Integer.BYTES);
		this.cursor.enter(entries);
		Column struct = this.cursor.validity(this.cursor.node());
		Column key = column(entries.getChildren().get(0));
		Column value = column(entries.getChildren().get(1));
		requireLength(entries.getChildren().get(0), key, struct.length(),
				"its struct has %d".formatted(struct.length()));
		requireLength(entries.getChildren().get(1), value, struct.length(),
				"its struct has %d".formatted(struct.length()));
		this.cursor.leave();
		requireLength(entries, struct, end, "the offsets of its map end at %d".formatted(end));
		int bad = Scan.mapWithNull(this.cursor.address(first), column, struct, key);
		if (bad >= 0) {
			throw this.cursor.failure("the map at index %d has a null entry or a null key", bad);
		}
		return column;
	}

	private Column listView(Field field, Column column, int width) {
		long offsets = this.cursor.data(column.length() * (long) width, "offsets", column.length());
		long sizes = this.cursor.data(column.length() * (long) width, "sizes", column.length());
		Field child = children(field, 1).get(0);
		Column values = column(child);
		int bad = Scan.badListView(offsets, sizes, width, values.length(), column);
		if (bad >= 0) {
			throw this.cursor.failure("the list at index %d has offset %d and size %d, but there are %d child values",
					bad, Scan.value(offsets, width, bad), Scan.value(sizes, width, bad), values.length());
		}
		return column;
	}

	private Column fixedSizeList(Field field, Column column, int size) {
		if (size < 0) {
			throw this.cursor.failure("the list size must be 0 or more, but is %d", size);
		}
		Field child = children(field, 1).get(0);
		long needed = column.length() * (long) size;
		requireLength(child, column(child), needed,
				"%d lists of size %d need %d".formatted(column.length(), size, needed));
		return column;
	}

	private Column union(Field field, ArrowType.Union type, Column column) {
		boolean dense = type.getMode() == UnionMode.Dense;
		List<Field> fields = field.getChildren();
		int[] children = UnionChildren.byTypeId(type, fields.size());
		if (children.length == 0) {
			throw this.cursor.failure("the type ids of %s must be different, between 0 and 127, and one per child",
					type);
		}
		long ids = this.cursor.data(column.length(), "type ids", column.length());
		int bad = Scan.badTypeId(ids, column.length(), children, dense ? -1 : 0);
		if (bad >= 0) {
			throw this.cursor.failure("the type id at index %d is %d, which is none of %s", bad,
					Scan.value(ids, 1, bad), type);
		}
		long offsets = dense ? this.cursor.data(column.length() * 4L, "offsets", column.length()) : 0;
		int[] lengths = new int[fields.size()];
		for (int i = 0; i < lengths.length; i++) {
			Column child = column(fields.get(i));
			lengths[i] = child.length();
			if (!dense) {
				requireLength(fields.get(i), child, column.length(), "its union has %d".formatted(column.length()));
			}
		}
		bad = dense ? Scan.badUnionOffset(ids, offsets, column.length(), children, lengths) : -1;
		if (bad >= 0) {
			throw this.cursor.failure("the offset at index %d is %d, which its child with type id %d doesn't have", bad,
					Scan.value(offsets, 4, bad), Scan.value(ids, 1, bad));
		}
		return column;
	}

	private Column runEndEncoded(Field field, Column column) {
		List<Field> fields = children(field, 2);
		if (!(fields.get(0).getType() instanceof ArrowType.Int type) || !type.getIsSigned()
				|| type.getBitWidth() == 8) {
			throw this.cursor.failure("run ends must be signed integers of 16, 32 or 64 bits, but are %s",
					fields.get(0));
		}
		int buffer = this.cursor.nextBuffer() + 1;
		Column runs = column(fields.get(0));
		Column values = column(fields.get(1));
		requireLength(fields.get(1), values, runs.length(), "there are %d run ends".formatted(runs.length()));
		if (runs.nullCount() > 0) {
			throw this.cursor.failure("%d of its run ends are null", runs.nullCount());
		}
		if (column.length() > 0) {
			int width = type.getBitWidth() / 8;
			long ends = this.cursor.address(buffer);
			int bad = Scan.badRunEnd(ends, width, runs.length());
			if (bad >= 0) {
				throw this.cursor.failure("the run end at index %d is %d; run ends must be positive and grow", bad,
						Scan.value(ends, width, bad));
			}
			long last = (runs.length() > 0) ? Scan.value(ends, width, runs.length() - 1) : 0;
			if (last < column.length()) {
				throw this.cursor.failure("its runs end at %d, but it has %d values", last, column.length());
			}
		}
		return column;
	}

	/**
	 * Is told of the indexes into dictionaries.
	 */
	@FunctionalInterface
	interface IndexUse {

		/**
		 * A column refers to a dictionary.
		 * @param id the id of the dictionary
		 * @param highest the highest index, see {@link IndexScan#highest}
		 */
		void used(long id, long highest);

	}

}
