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
import java.util.function.Supplier;

import org.apache.arrow.memory.BufferAllocator;
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

	private final IpcTarget target;

	private final IpcMessages messages;

	private State state = State.START;

	private long messageStart;

	private boolean file;

	/**
	 * Creates a decoder.
	 * @param allocator where bodies go
	 * @param size the bytes of the whole input, or {@link IpcTarget#UNKNOWN_SIZE}
	 */
	IpcDecoder(BufferAllocator allocator, long size) {
		this.target = new IpcTarget(allocator, size, WORD);
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
							.formatted(this.target.position())));
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
		return guarded(() -> {
			checkOpen();
			return this.target.window();
		});
	}

	/**
	 * Takes note of the bytes that were put into the window.
	 * @return a batch that they completed, owned by the caller, or {@code null}
	 */
	@Nullable RecordBatch filled() {
		return guarded(() -> {
			checkOpen();
			return this.target.filled() ? advance() : null;
		});
	}

	private void checkOpen() {
		if (this.state == State.ENDED || this.state == State.FAILED) {
			throw new IllegalStateException("This decoder takes no more bytes");
		}
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
					this.messages.checkFooter(this.target.bytes(), this.target.position());
					end();
				}
				default -> throw new TruncatedIpcException(this.target.position(), missing());
			}
			return true;
		});
	}

	private String missing() {
		return switch (this.state) {
			case START, MAGIC ->
				(this.target.position() == 0) ? "there are no bytes at all" : "they end inside their first bytes";
			case PREFIX, LENGTH -> (!this.target.bytes().hasRemaining() && this.state == State.PREFIX)
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
				return metadata();
			}
			case BODY -> {
				return message();
			}
			default -> throw new MalformedIpcException(
					"The footer of the file is longer than %d bytes".formatted(MAX_METADATA));
		}
		return null;
	}

	private int word() {
		return this.target.bytes().getInt(0);
	}

	private void expect(State next, int length) {
		this.state = next;
		this.target.expect(length);
	}

	private void start() {
		int word = word();
		if (word == IpcFooter.MAGIC_START) {
			expect(State.MAGIC, WORD);
			return;
		}
		// Lengths without marker are multiples of 4, unlike the first bytes of gzip data.
		if (word != MARKER && (word < 0 || word > MAX_METADATA || word % WORD != 0)) {
			throw new MalformedIpcException(IpcFooter.describe(this.target.bytes()));
		}
		prefix(word);
	}

	private void magic() {
		if (!IpcFooter.isMagicEnd(this.target.bytes())) {
			throw new MalformedIpcException("The data begin like an Arrow file, but not with ARROW1");
		}
		this.file = true;
		this.messages.file();
		expect(State.PREFIX, WORD);
	}

	private void prefix(int word) {
		this.messageStart = this.target.position() - WORD;
		if (word == MARKER) {
			expect(State.LENGTH, WORD);
		}
		else if (word == 0 && this.file && schema() == null && this.target.position() <= MAX_FILE_HEADER) {
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
		this.target.checkRemaining(length, "metadata", this.messageStart);
		expect(State.METADATA, length);
	}

	private @Nullable RecordBatch metadata() {
		long length = this.messages.metadata(this.target.bytes(), this.messageStart);
		this.target.checkRemaining(length, "a body", this.messageStart);
		this.target.expectBody(length);
		this.state = State.BODY;
		return (length == 0) ? message() : null;
	}

	private @Nullable RecordBatch message() {
		try (IpcBody complete = this.target.takeBody()) {
			expect(State.PREFIX, WORD);
			return this.messages.body(complete);
		}
	}

	private void end() {
		release();
		this.state = State.ENDED;
	}

	private <R extends @Nullable Object> R guarded(Supplier<R> action) {
		if (this.state == State.ENDED || this.state == State.FAILED) {
			return action.get();
		}
		try {
			return IpcFailures.translate(action, () -> this.messageStart);
		}
		catch (ArrowDataException ex) {
			throw failed(ex);
		}
	}

	private <E extends RuntimeException> E failed(E failure) {
		close();
		return failure;
	}

	private void release() {
		this.target.close();
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
