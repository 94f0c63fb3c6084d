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

import java.nio.ByteBuffer;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.ArrowDataException;
import org.lance.spring.stream.RecordBatch;

/**
 * Decodes Arrow IPC data as their bytes come, the stream and the file format, told apart
 * by content. A state machine that always knows where the next bytes go: whoever has a
 * channel reads straight into {@link #window()} and then calls {@link #filled()}; whoever
 * is given bytes calls {@link #decode(ByteBuffer)}.
 * <p>
 * Whatever is wrong with the data is an {@link ArrowDataException}; afterwards, as after
 * {@link #close()}, nothing more can be decoded. Data without their end marker are
 * truncated, also at the border of a message: the rest would be lost without a word.
 * <p>
 * <b>Ownership.</b> Batches belong to the caller and outlive the decoder. <b>Threads.</b>
 * One at a time.
 */
final class IpcDecoder implements AutoCloseable {

	static final long UNKNOWN_SIZE = -1;

	/**
	 * More than any real message needs: a column takes about 50 bytes.
	 */
	private static final int MAX_METADATA = 64 << 20;

	private static final int MARKER = -1;

	private static final int WORD = 4;

	/**
	 * Writers pad the magic of a file to at most so many bytes.
	 */
	private static final int MAX_FILE_HEADER = 64;

	private enum State {

		START, MAGIC, PREFIX, LENGTH, METADATA, BODY, FOOTER, ENDED, FAILED

	}

	private final BufferAllocator allocator;

	private final long size;

	private final IpcMessages messages;

	private State state = State.START;

	private HeapBytes bytes = new HeapBytes(WORD);

	private @Nullable IpcBody body;

	private @Nullable ByteBuffer window;

	/**
	 * How much of the window was counted.
	 */
	private int counted;

	private long position;

	private long messageStart;

	private boolean file;

	/**
	 * Creates a decoder.
	 * @param allocator where bodies go
	 * @param size the bytes of the whole input, or {@link #UNKNOWN_SIZE}
	 */
	IpcDecoder(BufferAllocator allocator, long size) {
		this.allocator = allocator;
		this.size = size;
		this.messages = new IpcMessages(allocator);
	}

	/**
	 * The schema, once it was decoded.
	 */
	@Nullable IpcSchema schema() {
		return this.messages.schema();
	}

	/**
	 * Whether nothing more is to come. A file ends with its input, see {@link #finish()}.
	 */
	boolean isEnded() {
		return this.state == State.ENDED;
	}

	/**
	 * Decodes bytes until a batch is complete or all of them are consumed.
	 * @return the batch, owned by the caller, or {@code null} if more bytes are needed
	 */
	@Nullable RecordBatch decode(ByteBuffer source) {
		while (source.hasRemaining()) {
			if (this.state == State.ENDED) {
				throw failed(new MalformedIpcException(
						"There are bytes behind the end marker of the Arrow stream, at byte %d. Send one stream at a time"
							.formatted(this.position)));
			}
			ByteBuffer target = window();
			int length = Math.min(target.remaining(), source.remaining());
			target.put(source.slice(source.position(), length));
			source.position(source.position() + length);
			RecordBatch batch = filled();
			if (batch != null) {
				return batch;
			}
		}
		return null;
	}

	/**
	 * Where the next bytes go; never empty.
	 */
	ByteBuffer window() {
		ByteBuffer current = this.window;
		if (current == null || !current.hasRemaining()) {
			current = guarded(this::nextWindow);
			this.window = current;
			this.counted = current.position();
		}
		return current;
	}

	private ByteBuffer nextWindow() {
		return switch (this.state) {
			case BODY -> body().window();
			case ENDED, FAILED -> throw new IllegalStateException("This decoder takes no more bytes");
			default -> this.bytes.window();
		};
	}

	/**
	 * Takes note of the bytes that were put into the window.
	 * @return a batch that they completed, owned by the caller, or {@code null}
	 */
	@Nullable RecordBatch filled() {
		ByteBuffer current = window();
		this.position += current.position() - this.counted;
		this.counted = current.position();
		if (current.hasRemaining()) {
			return null;
		}
		return guarded(this::advance);
	}

	/**
	 * Says that there are no more bytes.
	 */
	void finish() {
		guarded(() -> {
			switch (this.state) {
				case ENDED -> {
				}
				case FOOTER -> {
					this.messages.checkFooter(this.bytes.bytes(), this.position);
					end();
				}
				default -> throw new TruncatedIpcException(this.position, missing());
			}
			return true;
		});
	}

	private String missing() {
		return switch (this.state) {
			case START, MAGIC ->
				(this.position == 0) ? "there are no bytes at all" : "they end inside their first bytes";
			case PREFIX, LENGTH -> (this.bytes.filled() == 0 && this.state == State.PREFIX)
					? "the end marker is missing" : "they end inside the length of a message";
			case METADATA -> "they end inside the metadata of the message at byte %d".formatted(this.messageStart);
			default -> "they end inside the body of the message at byte %d".formatted(this.messageStart);
		};
	}

	private @Nullable RecordBatch advance() {
		switch (this.state) {
			case START -> start();
			case MAGIC -> magic();
			case PREFIX -> prefix(word());
			case LENGTH -> length(word());
			case METADATA -> {
				if (!this.bytes.window().hasRemaining()) {
					return metadata();
				}
			}
			case BODY -> {
				if (body().isFull()) {
					return message();
				}
			}
			case FOOTER -> {
				if (!this.bytes.window().hasRemaining()) {
					throw new MalformedIpcException(
							"The footer of the file is longer than %d bytes".formatted(MAX_METADATA));
				}
			}
			default -> throw new IllegalStateException("This decoder takes no more bytes");
		}
		return null;
	}

	private int word() {
		return this.bytes.bytes().getInt(0);
	}

	private void expect(State next, int length) {
		this.state = next;
		this.bytes = new HeapBytes(length);
		this.window = null;
	}

	private void start() {
		int word = word();
		if (word == IpcFooter.MAGIC_START) {
			expect(State.MAGIC, WORD);
			return;
		}
		if (word != MARKER && (word < 0 || word > MAX_METADATA)) {
			throw new MalformedIpcException(IpcFooter.describe(this.bytes.bytes()));
		}
		prefix(word);
	}

	private void magic() {
		if (!IpcFooter.isMagicEnd(this.bytes.bytes())) {
			throw new MalformedIpcException("The data begin like an Arrow file, but not with ARROW1");
		}
		this.file = true;
		this.messages.file();
		expect(State.PREFIX, WORD);
	}

	private void prefix(int word) {
		this.messageStart = this.position - WORD;
		if (word == MARKER) {
			expect(State.LENGTH, WORD);
		}
		else if (word == 0 && this.file && schema() == null && this.position < MAX_FILE_HEADER) {
			// Padding: writers that align to more than 8 bytes pad the magic, too.
			expect(State.PREFIX, WORD);
		}
		else {
			length(word);
		}
	}

	private void length(int length) {
		if (length == 0) {
			if (schema() == null) {
				throw new MalformedIpcException("The end marker comes before the schema, at byte " + this.messageStart);
			}
			if (this.file) {
				expect(State.FOOTER, MAX_METADATA);
			}
			else {
				end();
			}
			return;
		}
		if (length < 0 || length > MAX_METADATA) {
			throw new MalformedIpcException(
					"The message at byte %d says that its metadata have %d bytes; at most %d are taken"
						.formatted(this.messageStart, length, MAX_METADATA));
		}
		checkRemaining(length, "metadata");
		expect(State.METADATA, length);
	}

	private @Nullable RecordBatch metadata() {
		long length = this.messages.metadata(this.bytes.bytes(), this.messageStart);
		checkRemaining(length, "a body");
		this.body = new IpcBody(this.allocator, length, this.size != UNKNOWN_SIZE);
		if (length == 0) {
			return message();
		}
		this.state = State.BODY;
		this.window = null;
		return null;
	}

	private void checkRemaining(long length, String of) {
		if (this.size != UNKNOWN_SIZE && length > this.size - this.position) {
			throw new TruncatedIpcException(this.size,
					"the message at byte %d says that it has %s of %d bytes, but %d are left"
						.formatted(this.messageStart, of, length, this.size - this.position));
		}
	}

	private @Nullable RecordBatch message() {
		try (IpcBody complete = body()) {
			this.body = null;
			expect(State.PREFIX, WORD);
			return this.messages.body(complete);
		}
	}

	private IpcBody body() {
		if (this.body == null) {
			throw new IllegalStateException("There is no body now");
		}
		return this.body;
	}

	private void end() {
		release();
		this.state = State.ENDED;
	}

	/**
	 * Turns whatever malformed data provoke into one family of exceptions.
	 */
	private <R extends @Nullable Object> R guarded(java.util.function.Supplier<R> action) {
		try {
			return action.get();
		}
		catch (ArrowDataException ex) {
			throw failed(ex);
		}
		catch (OutOfMemoryException ex) {
			throw failed(new IpcMemoryLimitException(
					"The message at byte %d does not fit into the memory that is left: %s. Raise 'lance.memory.limit', or write smaller batches"
						.formatted(this.messageStart, ex.getMessage()),
					ex));
		}
		catch (OutOfMemoryError ex) {
			throw failed(new IpcMemoryLimitException(
					"The message at byte %d does not fit into the memory that is left: %s. Give the JVM more memory, or write smaller batches"
						.formatted(this.messageStart, ex.getMessage()),
					ex));
		}
		catch (RuntimeException | StackOverflowError ex) {
			if (this.state == State.ENDED || this.state == State.FAILED) {
				throw ex;
			}
			throw failed(new MalformedIpcException(
					"The message at byte %d is malformed: %s".formatted(this.messageStart, ex), ex));
		}
	}

	private <E extends RuntimeException> E failed(E failure) {
		close();
		return failure;
	}

	private void release() {
		this.window = null;
		if (this.body != null) {
			this.body.close();
			this.body = null;
		}
		this.messages.close();
	}

	@Override
	public void close() {
		if (this.state != State.ENDED) {
			release();
			this.state = State.FAILED;
		}
	}

}
