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

import java.util.Arrays;

import org.apache.arrow.vector.types.pojo.ArrowType;

/**
 * Which child of a union a type id stands for.
 */
final class UnionChildren {

	/**
	 * Arrow's limit: type ids are signed bytes and not negative.
	 */
	private static final int MAX = 128;

	private UnionChildren() {
	}

	/**
	 * Maps type ids to children.
	 * @param type the union
	 * @param count the number of its children
	 * @return the index of the child by type id, or -1; empty if the type is malformed
	 */
	static int[] byTypeId(ArrowType.Union type, int count) {
		int[] children = new int[MAX];
		Arrays.fill(children, -1);
		int[] ids = type.getTypeIds();
		if ((ids != null) ? ids.length != count : count > MAX) {
			return new int[0];
		}
		for (int i = 0; i < count; i++) {
			int id = (ids != null) ? ids[i] : i;
			if (id < 0 || id >= MAX || children[id] >= 0) {
				return new int[0];
			}
			children[id] = i;
		}
		return children;
	}

}
