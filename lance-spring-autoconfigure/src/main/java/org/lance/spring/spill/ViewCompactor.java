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

package org.lance.spring.spill;

import java.util.ArrayList;
import java.util.List;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.util.MemoryUtil;
import org.apache.arrow.vector.TypeLayout;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Leaves out what view columns don't refer to. A slice of such a column has the data
 * buffers of the whole, so that a hundred slices would be written as a hundred wholes.
 */
final class ViewCompactor {

	private static final int VIEW = 16;

	private static final int MAX_INLINE = 12;

	private static final int BUFFER_INDEX = 8;

	private static final int OFFSET = 12;

	/**
	 * What may be written in vain beside a quarter of what is needed: less is not worth a
	 * copy.
	 */
	private static final long SLACK = 1024;

	private final ArrowRecordBatch body;

	private final ScratchMemory scratch;

	private final List<ArrowBuf> buffers = new ArrayList<>();

	private final List<Long> counts = new ArrayList<>();

	private int node;

	/**
	 * Where the next column starts in the body.
	 */
	private int buffer;

	private boolean changed;

	private ViewCompactor(ArrowRecordBatch body, ScratchMemory scratch) {
		this.body = body;
		this.scratch = scratch;
	}

	/**
	 * Compacts a body.
	 * @param fields its columns, in memory format
	 * @param body the body, borrowed
	 * @param scratch where new buffers go
	 * @return the body itself if there is little to leave out, or another one
	 */
	static ArrowRecordBatch compact(List<Field> fields, ArrowRecordBatch body, ScratchMemory scratch) {
		if (body.getVariadicBufferCounts().isEmpty()) {
			return body;
		}
		ViewCompactor compactor = new ViewCompactor(body, scratch);
		fields.forEach(compactor::column);
		return compactor.changed ? new ArrowRecordBatch(body.getLength(), body.getNodes(), compactor.buffers,
				NoCompressionCodec.DEFAULT_BODY_COMPRESSION, compactor.counts, true, false) : body;
	}

	private void column(Field field) {
		ArrowType type = field.getType();
		while (type instanceof ArrowType.ExtensionType extension) {
			type = extension.storageType();
		}
		ArrowFieldNode current = this.body.getNodes().get(this.node++);
		int own = TypeLayout.getTypeLayout(type).getBufferLayouts().size();
		List<ArrowBuf> fixed = take(own);
		if (type instanceof ArrowType.Utf8View || type instanceof ArrowType.BinaryView) {
			List<ArrowBuf> data = take(this.body.getVariadicBufferCounts().get(this.counts.size()).intValue());
			views(current, fixed, data);
		}
		else {
			this.buffers.addAll(fixed);
		}
		field.getChildren().forEach(this::column);
	}

	private List<ArrowBuf> take(int count) {
		List<ArrowBuf> taken = this.body.getBuffers().subList(this.buffer, this.buffer + count);
		this.buffer += count;
		return taken;
	}

	private void views(ArrowFieldNode current, List<ArrowBuf> fixed, List<ArrowBuf> data) {
		Views views = new Views(fixed.get(0), fixed.get(1), current.getLength(), data);
		long stored = data.stream().mapToLong(ArrowBuf::readableBytes).sum();
		long needed = views.needed();
		if (stored - needed <= needed / 4 + SLACK || needed > Integer.MAX_VALUE) {
			this.buffers.addAll(fixed);
			this.buffers.addAll(data);
			this.counts.add((long) data.size());
			return;
		}
		long viewBytes = (long) VIEW * current.getLength();
		ArrowBuf target = this.scratch.allocate(viewBytes + needed);
		views.copy(target.memoryAddress(), target.memoryAddress() + viewBytes);
		this.buffers.add(fixed.get(0));
		this.buffers.add(target.slice(0, viewBytes));
		if (needed > 0) {
			this.buffers.add(target.slice(viewBytes, needed));
		}
		this.counts.add((needed > 0) ? 1L : 0L);
		this.changed = true;
	}

	/**
	 * The views of a column, which were validated when the batch was sealed.
	 */
	private record Views(ArrowBuf validity, ArrowBuf views, int length, List<ArrowBuf> data) {

		/**
		 * The bytes that the views refer to.
		 */
		long needed() {
			long needed = 0;
			for (int i = 0; i < this.length; i++) {
				int bytes = bytes(i);
				needed += (bytes > MAX_INLINE) ? bytes : 0;
			}
			return needed;
		}

		/**
		 * The bytes of a value; none of one that is null, whose view may be anything.
		 */
		private int bytes(int index) {
			boolean isNull = this.validity.readableBytes() > 0
					&& (this.validity.getByte(this.validity.readerIndex() + index / 8) >> index % 8 & 1) == 0;
			return isNull ? 0 : MemoryUtil.getInt(address(index));
		}

		private long address(int index) {
			return this.views.memoryAddress() + this.views.readerIndex() + (long) VIEW * index;
		}

		void copy(long targetViews, long targetData) {
			int offset = 0;
			for (int i = 0; i < this.length; i++) {
				long source = address(i);
				long target = targetViews + (long) VIEW * i;
				int bytes = bytes(i);
				if (bytes == 0) {
					MemoryUtil.setMemory(target, VIEW, (byte) 0);
					continue;
				}
				MemoryUtil.copyMemory(source, target, VIEW);
				if (bytes > MAX_INLINE) {
					ArrowBuf from = this.data.get(MemoryUtil.getInt(source + BUFFER_INDEX));
					MemoryUtil.copyMemory(
							from.memoryAddress() + from.readerIndex() + MemoryUtil.getInt(source + OFFSET),
							targetData + offset, bytes);
					MemoryUtil.putInt(target + BUFFER_INDEX, 0);
					MemoryUtil.putInt(target + OFFSET, offset);
					offset += bytes;
				}
			}
		}

	}

}
