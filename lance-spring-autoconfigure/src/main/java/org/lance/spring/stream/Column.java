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

import org.apache.arrow.vector.ipc.message.ArrowFieldNode;

/**
 * What the validation of a column has to know of it, or of its parent.
 *
 * @param length the number of values
 * @param nullCount how many of them are null
 * @param validity the address of the validity buffer, or 0 if no bit of it has to be
 * looked at: nothing or everything is null
 */
record Column(int length, int nullCount, long validity) {

	/**
	 * A column of a type that has no validity buffer.
	 */
	static Column of(ArrowFieldNode node) {
		return new Column(node.getLength(), 0, 0);
	}

	boolean allNull() {
		return this.nullCount == this.length;
	}

}
