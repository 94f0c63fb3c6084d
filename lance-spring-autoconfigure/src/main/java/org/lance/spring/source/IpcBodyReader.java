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
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

import org.apache.arrow.flatbuf.BodyCompression;
import org.apache.arrow.flatbuf.BodyCompressionMethod;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;

/**
 * Reads the table of a record batch over the body of its message. Every count, offset and
 * length is checked before it is used; compressed and misaligned bodies are rewritten
 * once, into one allocation.
 */
final class IpcBodyReader {

	private static final int ALIGNMENT = 8;

	private final BufferAllocator allocator;

	IpcBodyReader(BufferAllocator allocator) {
		this.allocator = allocator;
	}

	/**
	 * Reads a body.
	 * @param what tells what it is of, for messages
	 * @param table the table
	 * @param body the bytes, borrowed
	 * @param layout what the schema asks for
	 * @param use what to do with the batch, which borrows its memory; must keep what it
	 * needs
	 * @param <R> what {@code use} makes of it
	 */
	<R> R read(Supplier<String> what, RecordBatch table, IpcBody body, IpcLayout layout,
			Function<ArrowRecordBatch, R> use) {
		long rows = table.length();
		if (rows < 0 || rows > Integer.MAX_VALUE) {
			throw new MalformedIpcException("The batch says that it has %d rows".formatted(rows));
		}
		List<Long> variadic = variadic(table, layout);
		List<ArrowFieldNode> nodes = nodes(table, layout);
		long[] offsets = new long[checkBuffers(table, layout, variadic)];
		long[] lengths = new long[offsets.length];
		boolean aligned = true;
		long used = 0;
		for (int i = 0; i < offsets.length; i++) {
			Buffer buffer = table.buffers(i);
			offsets[i] = buffer.offset();
			lengths[i] = buffer.length();
			if (offsets[i] < 0 || lengths[i] < 0 || offsets[i] > body.length() - lengths[i]) {
				throw new MalformedIpcException("Buffer %d (offset %d, length %d) lies outside its body of %d bytes"
					.formatted(i, offsets[i], lengths[i], body.length()));
			}
			used += lengths[i];
			if (used > body.length()) {
				// They would overlap: a small body that claims to be a huge one.
				throw new MalformedIpcException("The buffers up to buffer %d take %d bytes, but their body has only %d"
					.formatted(i, used, body.length()));
			}
			aligned &= offsets[i] % ALIGNMENT == 0 || lengths[i] == 0;
		}
		BodyCompression compression = table.compression();
		if (compression == null && aligned) {
			return use.apply(IpcLayout.body((int) rows, nodes, slices(body.buffer(), offsets, lengths), variadic));
		}
		byte codec = (compression != null) ? codec(compression) : IpcBodyRewriter.NONE;
		try (ArrowBuf rewritten = new IpcBodyRewriter(codec, this.allocator,
				(buffer) -> "Column '%s' of %s".formatted(layout.column(buffer, variadic), what.get()))
			.rewrite(body.buffer(), offsets, lengths)) {
			return use.apply(IpcLayout.body((int) rows, nodes, slices(rewritten, offsets, lengths), variadic));
		}
	}

	private static byte codec(BodyCompression compression) {
		if (compression.method() != BodyCompressionMethod.BUFFER) {
			throw new UnsupportedIpcException(
					"The batch is compressed by the unknown method %d. Write it with ZSTD or LZ4_FRAME per buffer"
						.formatted(compression.method()));
		}
		return compression.codec();
	}

	private List<ArrowBuf> slices(ArrowBuf body, long[] offsets, long[] lengths) {
		List<ArrowBuf> slices = new ArrayList<>(offsets.length);
		for (int i = 0; i < offsets.length; i++) {
			slices.add((lengths[i] == 0) ? this.allocator.getEmpty() : body.slice(offsets[i], lengths[i]));
		}
		return slices;
	}

	private static List<Long> variadic(RecordBatch table, IpcLayout layout) {
		if (table.variadicBufferCountsLength() != layout.views()) {
			throw new MalformedIpcException("The schema has %d view columns, but the batch has buffer counts of %d"
				.formatted(layout.views(), table.variadicBufferCountsLength()));
		}
		List<Long> counts = new ArrayList<>(layout.views());
		for (int i = 0; i < layout.views(); i++) {
			long count = table.variadicBufferCounts(i);
			if (count < 0 || count > Integer.MAX_VALUE) {
				throw new MalformedIpcException("A view column says that it has %d buffers".formatted(count));
			}
			counts.add(count);
		}
		return counts;
	}

	private static List<ArrowFieldNode> nodes(RecordBatch table, IpcLayout layout) {
		if (table.nodesLength() != layout.nodes()) {
			throw new MalformedIpcException(
					"The schema has %d fields, but the batch has %d".formatted(layout.nodes(), table.nodesLength()));
		}
		List<ArrowFieldNode> nodes = new ArrayList<>(layout.nodes());
		for (int i = 0; i < layout.nodes(); i++) {
			FieldNode node = table.nodes(i);
			// Arrow Java writes a null count of -1 where it was not counted.
			if (node.length() < 0 || node.length() > Integer.MAX_VALUE || node.nullCount() < -1
					|| node.nullCount() > node.length()) {
				throw new MalformedIpcException("Field %d of the batch says that it has %d values, %d of them null"
					.formatted(i, node.length(), node.nullCount()));
			}
			nodes.add(new ArrowFieldNode(node.length(), node.nullCount()));
		}
		return nodes;
	}

	private static int checkBuffers(RecordBatch table, IpcLayout layout, List<Long> variadic) {
		long expected = layout.buffers() + variadic.stream().mapToLong(Long::longValue).sum();
		if (table.buffersLength() != expected) {
			throw new MalformedIpcException(
					"The batch should have %d buffers, but has %d".formatted(expected, table.buffersLength()));
		}
		if (expected > 0) {
			// Fails if the table lies about its length, before arrays of that length are
			// made.
			table.buffers((int) expected - 1).offset();
		}
		return (int) expected;
	}

}
