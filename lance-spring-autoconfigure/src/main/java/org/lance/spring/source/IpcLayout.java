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

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.TypeLayout;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * How many nodes and buffers the batches of some fields have.
 *
 * @param columns the fields
 * @param nodes the number of field nodes
 * @param buffers the number of buffers, without the variadic ones of views
 * @param views the number of view columns, each with its count of variadic buffers
 */
record IpcLayout(List<Field> columns, int nodes, int buffers, int views) {

	static IpcLayout of(List<Field> fields) {
		int nodeCount = 0;
		int bufferCount = 0;
		int viewCount = 0;
		for (Field field : fields) {
			IpcLayout children = of(field.getChildren());
			nodeCount += 1 + children.nodes;
			bufferCount += TypeLayout.getTypeBufferCount(field.getType()) + children.buffers;
			viewCount += (isView(field.getType()) ? 1 : 0) + children.views;
		}
		return new IpcLayout(fields, nodeCount, bufferCount, viewCount);
	}

	/**
	 * Returns the name of the column that a buffer belongs to.
	 * @param buffer the number of the buffer, from 0
	 * @param variadic how many variadic buffers each view column has
	 */
	String column(int buffer, List<Long> variadic) {
		long end = 0;
		int view = 0;
		for (Field field : this.columns) {
			IpcLayout column = of(List.of(field));
			end += column.buffers;
			for (int i = 0; i < column.views; i++) {
				end += variadic.get(view++);
			}
			if (buffer < end) {
				return field.getName();
			}
		}
		throw new IllegalArgumentException("There is no buffer " + buffer);
	}

	private static boolean isView(ArrowType type) {
		ArrowType storage = (type instanceof ArrowType.ExtensionType extension) ? extension.storageType() : type;
		return storage instanceof ArrowType.Utf8View || storage instanceof ArrowType.BinaryView;
	}

	static boolean hasUnion(Collection<Field> fields) {
		return fields.stream()
			.anyMatch((field) -> field.getType() instanceof ArrowType.Union || hasUnion(field.getChildren()));
	}

	/**
	 * A body without rows; it holds no memory.
	 */
	ArrowRecordBatch empty(BufferAllocator allocator) {
		return body(0, Collections.nCopies(this.nodes, new ArrowFieldNode(0, 0)),
				Collections.nCopies(this.buffers, allocator.getEmpty()), Collections.nCopies(this.views, 0L));
	}

	/**
	 * A body that borrows its buffers.
	 */
	static ArrowRecordBatch body(int length, List<ArrowFieldNode> fieldNodes, List<ArrowBuf> bodyBuffers,
			List<Long> variadic) {
		return new ArrowRecordBatch(length, fieldNodes, bodyBuffers, NoCompressionCodec.DEFAULT_BODY_COMPRESSION,
				new ArrayList<>(variadic), true, false);
	}

}
