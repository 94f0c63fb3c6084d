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

import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.UnionMode;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.jspecify.annotations.Nullable;

/**
 * Knows which fields Arrow Java has vectors for. Some it refuses late, and some it takes
 * and mixes up.
 */
final class IpcFields {

	/**
	 * Type ids are bytes, 0 or more.
	 */
	static final int MAX_UNION = 128;

	private IpcFields() {
	}

	/**
	 * Arrow Java makes vectors of these all the same, of another width than they say.
	 */
	static void checkParameters(ArrowType type) {
		boolean valid = true;
		if (type instanceof ArrowType.Time time) {
			boolean coarse = time.getUnit() == TimeUnit.SECOND || time.getUnit() == TimeUnit.MILLISECOND;
			valid = time.getBitWidth() == (coarse ? 32 : 64);
		}
		else if (type instanceof ArrowType.Decimal decimal) {
			int digits = (decimal.getBitWidth() == 128) ? 38 : 76;
			valid = decimal.getPrecision() >= 1 && decimal.getPrecision() <= digits;
		}
		else if (type instanceof ArrowType.FixedSizeBinary binary) {
			valid = binary.getByteWidth() >= 0;
		}
		else if (type instanceof ArrowType.FixedSizeList list) {
			valid = list.getListSize() >= 0;
		}
		if (!valid) {
			throw new IllegalArgumentException("no such type: " + type);
		}
	}

	/**
	 * Type ids that are not given are those of the children in order.
	 */
	static ArrowType withTypeIds(ArrowType type, int children) {
		if (type instanceof ArrowType.Union union && union.getTypeIds().length == 0 && children <= MAX_UNION) {
			return new ArrowType.Union(union.getMode(), IntStream.range(0, children).toArray());
		}
		return type;
	}

	static void checkChildren(ArrowType type, List<Field> children, Supplier<String> path) {
		int expected = switch (type.getTypeID()) {
			case List, LargeList, ListView, LargeListView, FixedSizeList, Map -> 1;
			case RunEndEncoded -> 2;
			case Union -> ((ArrowType.Union) type).getTypeIds().length;
			case Struct -> children.size();
			default -> 0;
		};
		boolean fits = children.size() == expected;
		if (fits && type instanceof ArrowType.Map) {
			fits = children.get(0).getType() instanceof ArrowType.Struct && children.get(0).getChildren().size() == 2;
		}
		if (fits && type instanceof ArrowType.Union union) {
			long valid = IntStream.of(union.getTypeIds()).filter((id) -> id >= 0 && id < MAX_UNION).distinct().count();
			fits = valid == expected;
		}
		if (!fits) {
			throw new MalformedIpcException(
					"Field '%s' of type %s has the wrong children: %s".formatted(path.get(), type, children));
		}
	}

	/**
	 * Makes a vector of a complete field to see whether Arrow Java can.
	 * @param allocator for the vector; nothing is allocated
	 */
	static void check(Field field, @Nullable String path, BufferAllocator allocator) {
		checkUnions(field, String.valueOf(path));
		try (FieldVector vector = field.createVector(allocator)) {
			if (countFields(vector.getField()) == countFields(field)) {
				return;
			}
		}
		catch (RuntimeException ex) {
			throw new UnsupportedIpcException(
					"Field '%s' is one that Arrow Java can't read: %s".formatted(path, ex.getMessage()), ex);
		}
		throw new UnsupportedIpcException(("Field '%s' has a struct with children of the same name, or a sparse union "
				+ "with children of the same type, and Arrow Java would lose some. For structs, start the JVM with "
				+ "-Darrow.struct.conflict.policy=CONFLICT_APPEND to keep them all")
			.formatted(path));
	}

	/**
	 * The vector of a dense union has its children in the order of their type ids, and
	 * loads those of the schema by position.
	 */
	private static void checkUnions(Field field, String path) {
		if (field.getType() instanceof ArrowType.Union union && union.getMode() == UnionMode.Dense) {
			int[] ids = union.getTypeIds();
			for (int i = 1; i < ids.length; i++) {
				if (ids[i] < ids[i - 1]) {
					throw new UnsupportedIpcException(
							("Field '%s' is a dense union whose type ids are not in ascending "
									+ "order, and Arrow Java would mix its children up. Write them in that order")
								.formatted(path));
				}
			}
		}
		for (Field child : field.getChildren()) {
			checkUnions(child, path + "." + child.getName());
		}
	}

	private static int countFields(Field field) {
		int count = 1;
		for (Field child : field.getChildren()) {
			count += countFields(child);
		}
		return count;
	}

}
