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

package org.lance.spring.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.IntervalUnit;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.Types.MinorType;
import org.apache.arrow.vector.types.UnionMode;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;

/**
 * One field of every type that Arrow Java has a vector for.
 */
public final class ArrowTypes {

	public static final ArrowType DATE_DAY = new ArrowType.Date(DateUnit.DAY);

	public static final ArrowType INT8 = new ArrowType.Int(8, true);

	public static final ArrowType INT16 = new ArrowType.Int(16, true);

	public static final ArrowType INT32 = new ArrowType.Int(32, true);

	public static final ArrowType INT64 = new ArrowType.Int(64, true);

	public static final ArrowType UTF8 = ArrowType.Utf8.INSTANCE;

	private ArrowTypes() {
	}

	/** Fields of all types, nested ones included, named after their type. */
	public static List<Field> all() {
		List<Field> fields = new ArrayList<>(flat());
		fields.addAll(nested());
		return fields;
	}

	/** Fields of all types without children. */
	public static List<Field> flat() {
		List<Field> fields = new ArrayList<>();
		fields.add(field("null", ArrowType.Null.INSTANCE));
		fields.add(field("bool", ArrowType.Bool.INSTANCE));
		for (int bits : new int[] { 8, 16, 32, 64 }) {
			fields.add(field("int" + bits, new ArrowType.Int(bits, true)));
			fields.add(field("uint" + bits, new ArrowType.Int(bits, false)));
		}
		for (FloatingPointPrecision precision : FloatingPointPrecision.values()) {
			fields.add(field("float_" + precision, new ArrowType.FloatingPoint(precision)));
		}
		fields.add(field("decimal128", new ArrowType.Decimal(38, 2, 128)));
		fields.add(field("decimal256", new ArrowType.Decimal(76, 2, 256)));
		for (DateUnit unit : DateUnit.values()) {
			fields.add(field("date_" + unit, new ArrowType.Date(unit)));
		}
		for (TimeUnit unit : TimeUnit.values()) {
			int bits = (unit == TimeUnit.SECOND || unit == TimeUnit.MILLISECOND) ? 32 : 64;
			fields.add(field("time_" + unit, new ArrowType.Time(unit, bits)));
			fields.add(field("timestamp_" + unit, new ArrowType.Timestamp(unit, null)));
			fields.add(field("timestamptz_" + unit, new ArrowType.Timestamp(unit, "Europe/Berlin")));
			fields.add(field("duration_" + unit, new ArrowType.Duration(unit)));
		}
		for (IntervalUnit unit : IntervalUnit.values()) {
			fields.add(field("interval_" + unit, new ArrowType.Interval(unit)));
		}
		fields.add(field("fixedsizebinary", new ArrowType.FixedSizeBinary(3)));
		fields.add(field("utf8", UTF8));
		fields.add(field("binary", ArrowType.Binary.INSTANCE));
		fields.add(field("largeutf8", ArrowType.LargeUtf8.INSTANCE));
		fields.add(field("largebinary", ArrowType.LargeBinary.INSTANCE));
		fields.add(field("utf8view", ArrowType.Utf8View.INSTANCE));
		fields.add(field("binaryview", ArrowType.BinaryView.INSTANCE));
		return fields;
	}

	/** Fields of all types with children, some of them several levels deep. */
	public static List<Field> nested() {
		Field item = field("item", UTF8);
		Field struct = field("struct", ArrowType.Struct.INSTANCE, field("a", INT32), item);
		Field list = field("list", ArrowType.List.INSTANCE, item);
		Field runEnds = new Field("run_ends", FieldType.notNullable(INT32), null);
		return List.of(struct, list, field("largelist", ArrowType.LargeList.INSTANCE, struct),
				field("listview", ArrowType.ListView.INSTANCE, field("item", INT64)),
				field("largelistview", ArrowType.LargeListView.INSTANCE, item),
				field("fixedsizelist", new ArrowType.FixedSizeList(3), field("item", INT16)), map("map"),
				field("sparseunion",
						new ArrowType.Union(UnionMode.Sparse,
								new int[] { MinorType.INT.ordinal(), MinorType.VARCHAR.ordinal() }),
						field("i", INT32), field("s", UTF8)),
				field("denseunion", new ArrowType.Union(UnionMode.Dense, new int[] { 0, 1 }), field("i", INT32),
						field("s", UTF8)),
				field("runs16", ArrowType.RunEndEncoded.INSTANCE,
						new Field("run_ends", FieldType.notNullable(INT16), null), field("values", UTF8)),
				field("runs32", ArrowType.RunEndEncoded.INSTANCE, runEnds, field("values", INT64)),
				field("runs64", ArrowType.RunEndEncoded.INSTANCE,
						new Field("run_ends", FieldType.notNullable(INT64), null), field("values", UTF8)),
				field("deep", ArrowType.List.INSTANCE, field("item", ArrowType.Struct.INSTANCE, list, map("m"),
						field("fixed", new ArrowType.FixedSizeList(2), field("item", ArrowType.Bool.INSTANCE)))));
	}

	/** A map of text to numbers. */
	public static Field map(String name) {
		return field(name, new ArrowType.Map(false),
				new Field("entries", FieldType.notNullable(ArrowType.Struct.INSTANCE),
						List.of(new Field("key", FieldType.notNullable(UTF8), null), field("value", INT32))));
	}

	/** A nullable field. */
	public static Field field(String name, ArrowType type, Field... children) {
		return new Field(name, FieldType.nullable(type), List.of(children));
	}

	/** A nullable dictionary column in memory format. */
	public static Field indexes(String name, long id, ArrowType.Int type) {
		return new Field(name, new FieldType(true, type, new DictionaryEncoding(id, false, type), Map.of()), null);
	}

}
