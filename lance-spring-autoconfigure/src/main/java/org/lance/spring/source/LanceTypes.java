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

package org.lance.spring.source;

import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.ArrowType.ExtensionType;
import org.apache.arrow.vector.types.pojo.Field;
import org.jspecify.annotations.Nullable;

/**
 * Writes Arrow types as the logical types of Lance.
 */
final class LanceTypes {

	private LanceTypes() {
	}

	static ArrowType storage(Field field) {
		return (field.getType() instanceof ExtensionType extension) ? extension.storageType() : field.getType();
	}

	private static @Nullable String extension(Field field) {
		if (field.getType() instanceof ExtensionType extension) {
			return extension.extensionName();
		}
		return field.getMetadata().get(ExtensionType.EXTENSION_METADATA_KEY_NAME);
	}

	/**
	 * The logical type of a field that is not dictionary-encoded.
	 * @throws LanceSchemaException if there is none
	 */
	static String logicalType(Field field, String path) {
		ArrowType type = storage(field);
		String extension = extension(field);
		if ("arrow.json".equals(extension) && (type instanceof ArrowType.Utf8 || type instanceof ArrowType.LargeUtf8)
				|| "lance.json".equals(extension) && type instanceof ArrowType.LargeBinary) {
			return "json";
		}
		return switch (type.getTypeID()) {
			case Null -> "null";
			case Bool -> "bool";
			case Int -> integer((ArrowType.Int) type);
			case FloatingPoint -> floatingPoint((ArrowType.FloatingPoint) type);
			case Decimal -> decimal((ArrowType.Decimal) type);
			case Utf8 -> "string";
			case LargeUtf8 -> "large_string";
			case Binary -> "binary";
			case LargeBinary -> "large_binary";
			case FixedSizeBinary -> "fixed_size_binary:" + ((ArrowType.FixedSizeBinary) type).getByteWidth();
			case Date -> (((ArrowType.Date) type).getUnit() == DateUnit.DAY) ? "date32:day" : "date64:ms";
			case Time ->
				"time%d:%s".formatted(((ArrowType.Time) type).getBitWidth(), unit(((ArrowType.Time) type).getUnit()));
			case Timestamp -> timestamp((ArrowType.Timestamp) type, path);
			case Duration -> "duration:" + unit(((ArrowType.Duration) type).getUnit());
			case Struct -> "struct";
			case List -> list("list", field);
			case LargeList -> list("large_list", field);
			case FixedSizeList -> fixedSizeList(field, ((ArrowType.FixedSizeList) type).getListSize(), path);
			case Map -> map(field, ((ArrowType.Map) type).getKeysSorted(), path);
			default -> throw new LanceSchemaException(path,
					"has the type %s, which Lance can't store. Cast it first".formatted(field.getType()));
		};
	}

	static String integer(ArrowType.Int type) {
		return (type.getIsSigned() ? "int" : "uint") + type.getBitWidth();
	}

	private static String floatingPoint(ArrowType.FloatingPoint type) {
		return switch (type.getPrecision()) {
			case HALF -> "halffloat";
			case SINGLE -> "float";
			case DOUBLE -> "double";
		};
	}

	private static String decimal(ArrowType.Decimal type) {
		return "decimal:%d:%d:%d".formatted(type.getBitWidth(), type.getPrecision(), type.getScale());
	}

	private static String timestamp(ArrowType.Timestamp type, String path) {
		String zone = type.getTimezone();
		if (zone != null && zone.indexOf(':') >= 0) {
			// Lance writes it, but takes the parts apart at the colons when it reads.
			throw new LanceSchemaException(path,
					"has the time zone '%s', which Lance can't store. Use a named zone such as 'UTC' or 'Asia/Shanghai'"
						.formatted(zone));
		}
		return "timestamp:%s:%s".formatted(unit(type.getUnit()), (zone != null) ? zone : "-");
	}

	private static String unit(TimeUnit unit) {
		return switch (unit) {
			case SECOND -> "s";
			case MILLISECOND -> "ms";
			case MICROSECOND -> "us";
			case NANOSECOND -> "ns";
		};
	}

	private static String list(String name, Field field) {
		Field element = field.getChildren().get(0);
		return (element.getDictionary() == null && storage(element) instanceof ArrowType.Struct) ? name + ".struct"
				: name;
	}

	private static String fixedSizeList(Field field, int size, String path) {
		Field element = field.getChildren().get(0);
		String elementPath = path + "." + element.getName();
		if (size <= 0) {
			throw new LanceSchemaException(path, "is a fixed-size list of size %d. Use 1 or more".formatted(size));
		}
		if (element.getDictionary() != null) {
			throw new LanceSchemaException(elementPath,
					"is dictionary-encoded inside a fixed-size list, which Lance can't store. Decode it first");
		}
		if ("lance.bfloat16".equals(extension(element))) {
			return "fixed_size_list:lance.bfloat16:" + size;
		}
		return "fixed_size_list:%s:%d".formatted(logicalType(element, elementPath), size);
	}

	private static String map(Field field, boolean keysSorted, String path) {
		if (keysSorted) {
			throw new LanceSchemaException(path,
					"is a map with sorted keys, which Lance can't store. Unset keysSorted");
		}
		Field entries = field.getChildren().get(0);
		if (entries.getChildren().size() < 2 || entries.getChildren().get(0).isNullable()) {
			throw new LanceSchemaException(path, "is a map whose keys may be null. Make its key field not nullable");
		}
		return "map";
	}

}
