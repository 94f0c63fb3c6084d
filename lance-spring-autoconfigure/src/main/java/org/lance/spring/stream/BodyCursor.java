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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Walks over the nodes and buffers of a body in the order of the format, and knows at
 * which field it is.
 */
final class BodyCursor {

	private static final ArrowFieldNode[] NO_NODES = {};

	private final ArrowRecordBatch body;

	private final String kind;

	private final ArrowFieldNode[] nodes;

	private final List<ArrowBuf> buffers;

	private final List<Long> variadicCounts;

	private final Deque<Field> path = new ArrayDeque<>();

	private final List<SealedBuffers.MissingValidity> missing = new ArrayList<>();

	private int node;

	private int buffer;

	private int variadic;

	BodyCursor(ArrowRecordBatch body, String kind) {
		this.body = body;
		this.kind = kind;
		this.nodes = body.getNodes().toArray(NO_NODES);
		this.buffers = body.getBuffers();
		List<Long> counts = body.getVariadicBufferCounts();
		this.variadicCounts = (counts != null) ? counts : List.of();
		if (body.getBodyCompression().getCodec() != NoCompressionCodec.COMPRESSION_TYPE) {
			throw new InvalidRecordBatchException("The batch is compressed; decompress its buffers first");
		}
		if (body.getLength() < 0) {
			throw new InvalidRecordBatchException("The batch has %d rows".formatted(body.getLength()));
		}
	}

	int rows() {
		return this.body.getLength();
	}

	List<SealedBuffers.MissingValidity> missing() {
		return this.missing;
	}

	void enter(Field field) {
		this.path.addLast(field);
	}

	void leave() {
		this.path.removeLast();
	}

	ArrowFieldNode node() {
		if (this.node == this.nodes.length) {
			throw failure("the batch has only %d field nodes; its schema needs more", this.nodes.length);
		}
		ArrowFieldNode next = this.nodes[this.node++];
		if (next.getLength() < 0) {
			throw failure("%d values", next.getLength());
		}
		if (next.getNullCount() < 0 || next.getNullCount() > next.getLength()) {
			throw failure("a null count of %d in %d values; the null count must be given and be right",
					next.getNullCount(), next.getLength());
		}
		return next;
	}

	/**
	 * The index of the buffer that comes next.
	 */
	int nextBuffer() {
		return this.buffer;
	}

	/**
	 * The address of what can be read of a buffer that was walked over before.
	 */
	long address(int index) {
		return address(this.buffers.get(index));
	}

	private static long address(ArrowBuf buffer) {
		return buffer.memoryAddress() + buffer.readerIndex();
	}

	private ArrowBuf buffer() {
		if (this.buffer == this.buffers.size()) {
			throw failure("the batch has only %d buffers; its schema needs more", this.buffers.size());
		}
		return this.buffers.get(this.buffer++);
	}

	Column validity(ArrowFieldNode node) {
		int length = node.getLength();
		int nullCount = node.getNullCount();
		int index = this.buffer;
		ArrowBuf bits = buffer();
		if (length == 0) {
			return new Column(0, 0, 0);
		}
		long available = SealedBuffers.available(bits);
		if (available == 0 && (nullCount == 0 || nullCount == length)) {
			this.missing.add(new SealedBuffers.MissingValidity(index, length, nullCount != 0));
			return new Column(length, nullCount, 0);
		}
		long needed = (length + 7L) / 8;
		if (available < needed) {
			throw failure("%d nulls in %d values need a validity buffer of %d bytes, but it has %d", nullCount, length,
					needed, available);
		}
		int found = length - Scan.countSet(address(bits), length);
		if (found != nullCount) {
			throw failure("a null count of %d, but its validity buffer has %d nulls", nullCount, found);
		}
		boolean looked = nullCount > 0 && nullCount < length;
		return new Column(length, nullCount, looked ? address(bits) : 0);
	}

	/**
	 * Takes the next buffer.
	 * @param needed the bytes that it must have
	 * @param what what is in it, for the message
	 * @param count how many of it
	 * @return its address
	 */
	long data(long needed, String what, long count) {
		ArrowBuf next = buffer();
		long available = SealedBuffers.available(next);
		if (available < needed) {
			throw failure("%d %s need a buffer of %d bytes, but it has %d", count, what, needed, available);
		}
		return address(next);
	}

	/**
	 * Takes the next buffer, of offsets.
	 * @param length the number of values
	 * @param width the bytes of an offset
	 * @return the last offset
	 */
	long offsets(int length, int width) {
		long address = data((length > 0) ? (length + 1L) * width : 0, "offsets", length + 1L);
		long available = SealedBuffers.available(this.buffers.get(this.buffer - 1));
		if (available == 0) {
			return 0;
		}
		if (available < width) {
			throw failure("an offset needs %d bytes, but the buffer has %d", width, available);
		}
		long first = Scan.value(address, width, 0);
		if (first < 0) {
			throw failure("its first offset is %d", first);
		}
		int bad = (width == Integer.BYTES) ? Scan.badOffset32(address, length) : Scan.badOffset64(address, length);
		if (bad >= 0) {
			throw failure("the offset at index %d is %d, but the one before is %d; offsets must not go back", bad,
					Scan.value(address, width, bad), Scan.value(address, width, bad - 1));
		}
		return Scan.value(address, width, length);
	}

	List<ArrowBuf> variadicBuffers() {
		if (this.variadic == this.variadicCounts.size()) {
			throw failure("the batch has only %d counts of data buffers; each column of views needs one",
					this.variadicCounts.size());
		}
		Long count = this.variadicCounts.get(this.variadic++);
		if (count == null || count < 0 || count > this.buffers.size() - this.buffer) {
			throw failure("the batch has %d more buffers, but this column says that %s are its data",
					this.buffers.size() - this.buffer, count);
		}
		int from = this.buffer;
		this.buffer += count.intValue();
		return this.buffers.subList(from, this.buffer);
	}

	void checkConsumed() {
		if (this.node != this.nodes.length || this.buffer != this.buffers.size()
				|| this.variadic != this.variadicCounts.size()) {
			throw new InvalidRecordBatchException(
					("The schema needs %d field nodes, %d buffers and %d counts of data buffers, but the batch has %d, "
							+ "%d and %d; it is of another schema")
						.formatted(this.node, this.buffer, this.variadic, this.nodes.length, this.buffers.size(),
								this.variadicCounts.size()));
		}
	}

	/**
	 * Makes the exception for the field where the cursor is.
	 */
	InvalidRecordBatchException failure(String message, Object... arguments) {
		StringBuilder name = new StringBuilder();
		for (Field field : this.path) {
			name.append(name.isEmpty() ? "" : ".").append(field.getName());
		}
		return new InvalidRecordBatchException("%s '%s': %s".formatted(this.kind, name, message.formatted(arguments)));
	}

}
