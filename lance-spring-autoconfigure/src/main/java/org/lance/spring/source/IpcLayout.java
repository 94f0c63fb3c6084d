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
 * @param nodes the number of field nodes
 * @param buffers the number of buffers, without the variadic ones of views
 * @param views the number of view columns, each with its count of variadic buffers
 */
record IpcLayout(int nodes, int buffers, int views) {

	static IpcLayout of(List<Field> fields) {
		IpcLayout sum = new IpcLayout(0, 0, 0);
		for (Field field : fields) {
			sum = sum
				.plus(new IpcLayout(1, TypeLayout.getTypeBufferCount(field.getType()), isView(field.getType()) ? 1 : 0))
				.plus(of(field.getChildren()));
		}
		return sum;
	}

	private IpcLayout plus(IpcLayout other) {
		return new IpcLayout(this.nodes + other.nodes, this.buffers + other.buffers, this.views + other.views);
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
