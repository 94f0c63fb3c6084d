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

import java.util.ArrayList;
import java.util.List;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Copies the buffers of a batch one by one, so that vectors may write and grow them.
 */
final class BatchCopy {

	private BatchCopy() {
	}

	static VectorSchemaRoot of(Schema schema, ArrowRecordBatch body, BufferAllocator allocator) {
		List<ArrowBuf> copies = new ArrayList<>();
		VectorSchemaRoot root = VectorSchemaRoot.create(schema, allocator);
		try {
			for (ArrowBuf source : body.getBuffers()) {
				long length = source.readableBytes();
				ArrowBuf copy = allocator.buffer(length);
				copies.add(copy);
				// The empty buffer is shared by everybody, its indexes are left alone.
				if (length > 0) {
					copy.setBytes(0, source, source.readerIndex(), length);
					copy.writerIndex(length);
				}
			}
			new VectorLoader(root)
				.load(SealedBuffers.body(body.getLength(), body.getNodes(), copies, body.getVariadicBufferCounts()));
			root.setRowCount(body.getLength());
			return root;
		}
		catch (Throwable ex) {
			root.close();
			throw ex;
		}
		finally {
			copies.forEach(ArrowBuf::close);
		}
	}

}
