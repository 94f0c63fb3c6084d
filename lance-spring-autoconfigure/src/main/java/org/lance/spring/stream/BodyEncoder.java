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

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.ReferenceManager;
import org.apache.arrow.memory.util.MemoryUtil;
import org.apache.arrow.vector.BufferLayout;
import org.apache.arrow.vector.TypeLayout;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Turns bodies of one list of columns into byte buffers, without copying.
 */
final class BodyEncoder {

	private static final int CONTINUATION = 0xFFFFFFFF;

	private static final int PREFIX = 8;

	/**
	 * A byte buffer ends at 2 GiB; half of that keeps every boundary far away.
	 */
	private static final int MAX_BUFFER = 1 << 30;

	private static final int MAX_ZEROS = 8;

	private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(MAX_ZEROS);

	private static final long ZEROS_ADDRESS = MemoryUtil.getByteBufferAddress(ZEROS);

	private final List<Column> columns = new ArrayList<>();

	private final boolean offsets;

	BodyEncoder(Collection<Field> fields) {
		fields.forEach(this::add);
		this.offsets = this.columns.stream().anyMatch((column) -> column.offsetWidth > 0);
	}

	private void add(Field field) {
		ArrowType type = field.getType();
		while (type instanceof ArrowType.ExtensionType extension) {
			type = extension.storageType();
		}
		this.columns.add(column(type));
		field.getChildren().forEach(this::add);
	}

	/**
	 * Only types whose offsets are one more than their values are of interest: in a dense
	 * union and in list views there are as many offsets as values.
	 */
	private static Column column(ArrowType type) {
		boolean view = type instanceof ArrowType.Utf8View || type instanceof ArrowType.BinaryView;
		boolean oneMore = type instanceof ArrowType.Utf8 || type instanceof ArrowType.Binary
				|| type instanceof ArrowType.LargeUtf8 || type instanceof ArrowType.LargeBinary
				|| type instanceof ArrowType.List || type instanceof ArrowType.LargeList
				|| type instanceof ArrowType.Map;
		List<BufferLayout> buffers = TypeLayout.getTypeLayout(type).getBufferLayouts();
		int width = oneMore ? buffers.get(1).getTypeBitWidth() / Byte.SIZE : 0;
		return new Column(buffers.size(), view, width);
	}

	/**
	 * Gives columns without values the one offset that the format wants: Arrow Java
	 * leaves it out, and other languages refuse such a batch.
	 * @param body the body, borrowed
	 * @return the body itself if nothing is missing, otherwise another one over the same
	 * buffers, never to be closed
	 */
	ArrowRecordBatch complete(ArrowRecordBatch body) {
		if (!this.offsets || body.getNodes().stream().noneMatch((node) -> node.getLength() == 0)) {
			return body;
		}
		List<ArrowBuf> buffers = new ArrayList<>(body.getBuffers());
		List<Long> variadicBufferCounts = body.getVariadicBufferCounts();
		List<ArrowFieldNode> nodes = body.getNodes();
		int buffer = 0;
		int variadic = 0;
		for (int i = 0; i < nodes.size(); i++) {
			Column column = this.columns.get(i);
			if (column.offsetWidth > 0 && nodes.get(i).getLength() == 0
					&& buffers.get(buffer + 1).readableBytes() == 0) {
				buffers.set(buffer + 1, zeros(column.offsetWidth));
			}
			buffer += column.buffers;
			if (column.view) {
				buffer += variadicBufferCounts.get(variadic++).intValue();
			}
		}
		return SealedBuffers.body(body.getLength(), nodes, buffers, variadicBufferCounts);
	}

	private static ArrowBuf zeros(int length) {
		ArrowBuf buffer = new ArrowBuf(ReferenceManager.NO_OP, null, length, ZEROS_ADDRESS);
		buffer.writerIndex(length);
		return buffer;
	}

	/**
	 * The bytes of a body, each buffer padded to 8 bytes.
	 */
	static List<ByteBuffer> buffers(ArrowRecordBatch body) {
		List<ByteBuffer> bytes = new ArrayList<>(body.getBuffers().size() * 2);
		for (ArrowBuf buffer : body.getBuffers()) {
			long end = buffer.writerIndex();
			for (long start = buffer.readerIndex(); start < end; start += MAX_BUFFER) {
				bytes.add(buffer.nioBuffer(start, (int) Math.min(MAX_BUFFER, end - start)));
			}
			int padding = padding(buffer.readableBytes());
			if (padding > 0) {
				bytes.add(ZEROS.duplicate().limit(padding));
			}
		}
		return bytes;
	}

	/**
	 * Marker, length and metadata of a message; without metadata, the end marker.
	 */
	static ByteBuffer head(ByteBuffer metadata) {
		int length = metadata.remaining() + padding(metadata.remaining());
		ByteBuffer head = ByteBuffer.allocate(PREFIX + length).order(ByteOrder.LITTLE_ENDIAN);
		head.putInt(CONTINUATION).putInt(length).put(metadata);
		return head.rewind();
	}

	private static int padding(long length) {
		return (int) (-length & (MAX_ZEROS - 1));
	}

	/**
	 * How the buffers of a column, without those of its children, are laid out.
	 *
	 * @param buffers how many there always are
	 * @param view whether a variable number follows
	 * @param offsetWidth the bytes of an offset, or 0 if the second buffer has none
	 */
	private record Column(int buffers, boolean view, int offsetWidth) {

	}

}
