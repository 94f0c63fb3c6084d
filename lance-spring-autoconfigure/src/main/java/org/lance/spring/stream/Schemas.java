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
import java.util.Objects;

import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Compares schemas.
 * <p>
 * Public for the other packages of this library only; may change in any release.
 *
 * @since 0.1.0
 */
public final class Schemas {

	private Schemas() {
	}

	/**
	 * Checks that a batch of one schema can be taken for a batch of another: the same
	 * names, types and dictionary encodings in the same order. Nullability and metadata
	 * may differ.
	 * @param expected the schema of the stream
	 * @param actual the schema of the batch
	 * @throws SchemaMismatchException if not; the message names the first field that
	 * differs
	 */
	public static void checkCompatible(Schema expected, Schema actual) {
		if (expected.equals(actual)) {
			return;
		}
		check("", expected.getFields(), actual.getFields());
	}

	private static void check(String path, List<Field> expected, List<Field> actual) {
		if (expected.size() != actual.size()) {
			throw new SchemaMismatchException("%s: expected %d fields %s, but got %d %s".formatted(
					path.isEmpty() ? "The schema differs" : "Field '" + path + "' differs", expected.size(),
					names(expected), actual.size(), names(actual)));
		}
		for (int i = 0; i < expected.size(); i++) {
			Field left = expected.get(i);
			Field right = actual.get(i);
			String name = path.isEmpty() ? left.getName() : path + "." + left.getName();
			if (!Objects.equals(left.getName(), right.getName()) || !left.getType().equals(right.getType())
					|| !same(left.getDictionary(), right.getDictionary())) {
				throw new SchemaMismatchException(
						"Field '%s' differs: expected %s, but got %s".formatted(name, left, right));
			}
			check(name, left.getChildren(), right.getChildren());
		}
	}

	private static boolean same(@Nullable DictionaryEncoding left, @Nullable DictionaryEncoding right) {
		return Objects.equals(left, right);
	}

	private static List<String> names(List<Field> fields) {
		return fields.stream().map(Field::getName).toList();
	}

}
