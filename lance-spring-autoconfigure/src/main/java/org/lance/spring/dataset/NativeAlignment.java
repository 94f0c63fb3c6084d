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

package org.lance.spring.dataset;

import java.util.ArrayList;
import java.util.List;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BufferLayout;
import org.apache.arrow.vector.TypeLayout;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.BatchMemory;
import org.lance.spring.stream.RecordBatch;

/**
 * Gives each buffer the alignment that native code insists on: that of its values, so 16
 * bytes for decimals, where the Arrow format asks for 8. Native code ends the JVM
 * otherwise.
 */
final class NativeAlignment {

	private static final int MAX_ALIGNMENT = 16;

	private final int[] alignments;

	private final BufferAllocator allocator;

	/**
	 * Creates an alignment.
	 * @param schema the schema of all batches, in memory format
	 * @param allocator where copies go
	 */
	NativeAlignment(Schema schema, BufferAllocator allocator) {
		List<Integer> found = new ArrayList<>();
		collect(schema.getFields(), found);
		this.alignments = found.stream().mapToInt(Integer::intValue).toArray();
		this.allocator = allocator;
	}

	private static void collect(List<Field> fields, List<Integer> found) {
		for (Field field : fields) {
			for (BufferLayout layout : TypeLayout.getTypeLayout(field.getType()).getBufferLayouts()) {
				int bytes = layout.getTypeBitWidth() / 8;
				found.add((Integer.bitCount(bytes) == 1) ? Math.min(bytes, MAX_ALIGNMENT) : 1);
			}
			collect(field.getChildren(), found);
		}
	}

	/**
	 * Aligns a batch.
	 * @param batch the batch, taken over
	 * @return the same batch, or one with copies of those buffers that need it; owned by
	 * the caller
	 */
	RecordBatch align(RecordBatch batch) {
		List<ArrowBuf> buffers = batch.body().getBuffers();
		long copied = 0;
		for (int i = 0; i < buffers.size(); i++) {
			if (!isAligned(buffers.get(i), i)) {
				copied += padded(buffers.get(i).readableBytes());
			}
		}
		return (copied != 0) ? copy(batch, copied) : batch;
	}

	private RecordBatch copy(RecordBatch batch, long bytes) {
		ArrowBuf target = this.allocator.buffer(bytes + MAX_ALIGNMENT);
		BatchMemory memory = new BatchMemory(this.allocator, bytes + batch.memorySize(), () -> {
			target.close();
			batch.close();
		});
		List<ArrowBuf> sources = batch.body().getBuffers();
		List<ArrowBuf> views = new ArrayList<>(sources.size());
		long position = -target.memoryAddress() & (MAX_ALIGNMENT - 1);
		for (int i = 0; i < sources.size(); i++) {
			ArrowBuf source = sources.get(i);
			long length = source.readableBytes();
			if (isAligned(source, i)) {
				views.add((length > 0) ? memory.buffer(address(source), length) : source);
			}
			else {
				target.setBytes(position, source, source.readerIndex(), length);
				views.add(memory.buffer(target.memoryAddress() + position, length));
				position += padded(length);
			}
		}
		ArrowRecordBatch body = new ArrowRecordBatch(batch.rowCount(), batch.body().getNodes(), views,
				NoCompressionCodec.DEFAULT_BODY_COMPRESSION, List.of(), true, false);
		return RecordBatch.over(batch.schema(), body, batch.dictionaries(), memory);
	}

	private boolean isAligned(ArrowBuf buffer, int index) {
		return buffer.readableBytes() == 0 || (address(buffer) & (this.alignments[index] - 1)) == 0;
	}

	private static long address(ArrowBuf buffer) {
		return buffer.memoryAddress() + buffer.readerIndex();
	}

	private static long padded(long length) {
		return (length + MAX_ALIGNMENT - 1) & -MAX_ALIGNMENT;
	}

}
