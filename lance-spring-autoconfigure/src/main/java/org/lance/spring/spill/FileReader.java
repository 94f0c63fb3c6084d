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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.BatchMemory;
import org.lance.spring.stream.DictionaryVersion;
import org.lance.spring.stream.RecordBatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads committed batches, by a mapping where there is one. Never by the channel that
 * writes: each read that needs one has a channel of its own.
 * <p>
 * May be used from any thread.
 */
final class FileReader {

	private static final Logger logger = LoggerFactory.getLogger(FileReader.class);

	private static final int MAX_BUFFER = 1 << 30;

	private final SpillFileSystem fileSystem;

	private final Path file;

	private final @Nullable Object key;

	private final Schema schema;

	private final FileIndex index;

	private final @Nullable FileWindows windows;

	private final FileErrors errors;

	private final BufferAllocator allocator;

	private final @Nullable FileCipher cipher;

	private final DictionaryCache dictionaries;

	private final @Nullable ReadAhead readAhead;

	/**
	 * What the file was when a batch was read. Whoever reads ahead looks whether it is so
	 * still.
	 */
	private volatile SpillFileSystem.@Nullable State lastState;

	/**
	 * Batches that were verified once; guarded by itself.
	 */
	private final BitSet verified = new BitSet();

	/**
	 * Creates a reader.
	 * @param key the identity of the file
	 * @param windows the mappings, or {@code null} to read everything
	 * @param cipher decrypts what is read, or {@code null} for nothing; destroyed by
	 * {@link #close()}
	 */
	FileReader(SpillFileSystem fileSystem, Path file, @Nullable Object key, Schema schema, FileIndex index,
			@Nullable FileWindows windows, FileErrors errors, BufferAllocator allocator, @Nullable FileCipher cipher,
			SpareThreads spareThreads) {
		this.fileSystem = fileSystem;
		this.file = file;
		this.key = key;
		this.schema = schema;
		this.index = index;
		this.windows = windows;
		this.errors = errors;
		this.allocator = allocator;
		this.cipher = cipher;
		this.dictionaries = new DictionaryCache(index, allocator);
		this.readAhead = (windows != null) ? new ReadAhead(new Source(windows), index, spareThreads) : null;
	}

	RecordBatch read(int batch, Verification verification) {
		FileIndex.Position position = this.index.batch(batch);
		try {
			prepare(batch + 1, verification, position.end());
			// After that: it takes time, and the file may be cut meanwhile.
			SpillFileSystem.State state = checkFile(position.end());
			this.lastState = state;
			return read(batch, position, verification, state);
		}
		catch (DamagedException ex) {
			throw this.errors.corrupted(batch, String.valueOf(ex.getMessage()), ex.getCause());
		}
		catch (IOException ex) {
			throw this.errors.reading(ex, batch);
		}
		catch (OutOfMemoryException ex) {
			throw this.errors.memory(ex, batch, position.length() + position.uncompressedLength());
		}
	}

	private RecordBatch read(int batch, FileIndex.Position position, Verification verification,
			SpillFileSystem.State state) throws IOException, DamagedException {
		List<DictionaryVersion> versions = this.dictionaries.acquire(batch, new Loader(verification, state));
		try {
			MessageBytes bytes = bytes(FileCipher.Kind.BATCH, position);
			BatchMemory memory = new BatchMemory(this.allocator, bytes.length(), bytes.release());
			boolean handedOver = false;
			try {
				verify(batch, bytes, verification, state);
				ArrowRecordBatch body = bytes.batch(memory);
				handedOver = true;
				return RecordBatch.over(this.schema, body, versions, memory);
			}
			finally {
				if (!handedOver) {
					memory.release();
				}
			}
		}
		finally {
			versions.forEach(DictionaryVersion::close);
		}
	}

	/**
	 * Must come before a mapping is touched: touching what lies behind the end of a file
	 * that was cut ends the JVM. All that a batch needs lies before its own end.
	 */
	private SpillFileSystem.State checkFile(long end) throws IOException, DamagedException {
		SpillFileSystem.State state = this.fileSystem.state(this.file);
		if (!Objects.equals(state.key(), this.key)) {
			throw new DamagedException("the file was replaced by another one", null);
		}
		if (state.size() < end) {
			throw new DamagedException("the file was cut to %d bytes".formatted(state.size()), null);
		}
		return state;
	}

	private void prepare(int batch, Verification verification, long end) throws IOException, DamagedException {
		if (this.readAhead == null) {
			return;
		}
		SpillFileSystem.State before = this.lastState;
		SpillFileSystem.State state = (before != null) ? before : checkFile(end);
		try {
			this.readAhead.prepare(batch, (each) -> verifies(each, verification), state);
		}
		catch (RuntimeException | Error ex) {
			// Not of the batch that is read now; who reads on will see what is wrong.
			logger.debug("Nothing of the spill file {} is read ahead", this.file, ex);
		}
	}

	private boolean verifies(int batch, Verification verification) {
		return verification != Verification.NEVER && (verification != Verification.FIRST_READ || !isVerified(batch));
	}

	private void verify(int batch, MessageBytes bytes, Verification verification, SpillFileSystem.State state)
			throws DamagedException {
		try (ReadAhead.Prepared prepared = (this.readAhead != null) ? this.readAhead.take(batch) : null) {
			if (!verifies(batch, verification)) {
				return;
			}
			if (!bytes.isVerified()) {
				MessageChecksum checksum = (prepared != null) ? prepared.checksum(bytes, state) : null;
				compare(bytes, (checksum != null) ? checksum : bytes.newChecksum());
			}
		}
		synchronized (this.verified) {
			this.verified.set(batch);
		}
	}

	private boolean isVerified(int batch) {
		synchronized (this.verified) {
			return this.verified.get(batch);
		}
	}

	private static void compare(MessageBytes bytes) throws DamagedException {
		compare(bytes, bytes.newChecksum());
	}

	private static void compare(MessageBytes bytes, MessageChecksum checksum) throws DamagedException {
		if (checksum.value(bytes::update) != bytes.position().crc()) {
			throw new DamagedException("the checksum of %d bytes at %d differs".formatted(bytes.position().length(),
					bytes.position().offset()), null);
		}
	}

	/**
	 * Returns a message that is decrypted and decompressed. Compressed ones are always
	 * verified before that: native code does it.
	 */
	private MessageBytes bytes(FileCipher.Kind kind, FileIndex.Position position) throws IOException, DamagedException {
		if (!position.isCompressed()) {
			return (this.cipher != null) ? decrypt(this.cipher, kind, position) : mapOrLoad(position);
		}
		MessageBytes stored = (this.cipher != null) ? decrypt(this.cipher, kind, position) : load(position);
		try {
			if (!stored.isVerified()) {
				compare(stored);
			}
			return stored.decompress(this.allocator);
		}
		finally {
			stored.release().run();
		}
	}

	private MessageBytes mapOrLoad(FileIndex.Position position) throws IOException, DamagedException {
		MessageBytes mapped = (this.windows != null) ? this.windows.acquire(position, this::map) : null;
		return (mapped != null) ? mapped : load(position);
	}

	/**
	 * Not behind the end of the file: mapping would make it longer.
	 */
	private @Nullable MappedWindow map(long start, long size) throws IOException {
		MappedWindow window = null;
		try (SpillFileSystem.SpillChannel channel = this.fileSystem.open(this.file)) {
			if (!Objects.equals(channel.key(), this.key) || channel.size() < start + size) {
				return null;
			}
			window = channel.map(start, size);
			return window;
		}
		catch (Throwable ex) {
			// The channel may fail to close.
			if (window != null) {
				window.release();
			}
			throw ex;
		}
	}

	private MessageBytes load(FileIndex.Position position) throws IOException, DamagedException {
		return fill(position, (channel, memory) -> {
			long done = 0;
			while (done < position.length()) {
				ByteBuffer target = memory.nioBuffer(done, (int) Math.min(MAX_BUFFER, position.length() - done));
				read(channel, position.offset() + done, target);
				done += target.position();
			}
		});
	}

	private MessageBytes decrypt(FileCipher cipher, FileCipher.Kind kind, FileIndex.Position position)
			throws IOException, DamagedException {
		FileCipher.Part part = new FileCipher.Part(kind, position.offset(), position.messageLength());
		return fill(position,
				(channel, memory) -> cipher.decrypt(part, (offset, target) -> read(channel, offset, target), memory));
	}

	private MessageBytes fill(FileIndex.Position position, Filling filling) throws IOException, DamagedException {
		long length = position.messageLength();
		ArrowBuf memory = this.allocator.buffer(length);
		try (SpillFileSystem.SpillChannel channel = this.fileSystem.open(this.file)) {
			if (!Objects.equals(channel.key(), this.key)) {
				throw new DamagedException("the file was replaced by another one", null);
			}
			filling.fill(channel, memory);
			return new MessageBytes(memory.memoryAddress(), position, length, memory::close);
		}
		catch (Throwable ex) {
			memory.close();
			throw ex;
		}
	}

	private static void read(SpillFileSystem.SpillChannel channel, long offset, ByteBuffer target)
			throws IOException, DamagedException {
		int start = target.position();
		while (target.hasRemaining()) {
			long position = offset + target.position() - start;
			if (channel.read(position, target) < 0) {
				throw new DamagedException("the file was cut to %d bytes".formatted(position), null);
			}
		}
	}

	/**
	 * Gives back what is kept for the next batch; nothing can be read afterwards.
	 */
	void close() {
		this.dictionaries.close();
		if (this.readAhead != null) {
			this.readAhead.close();
		}
		if (this.windows != null) {
			this.windows.close();
		}
		if (this.cipher != null) {
			this.cipher.destroy();
		}
	}

	/**
	 * Fills the memory of a message.
	 */
	@FunctionalInterface
	private interface Filling {

		void fill(SpillFileSystem.SpillChannel channel, ArrowBuf memory) throws IOException, DamagedException;

	}

	/**
	 * Dictionaries are verified when they come into use and not for each batch, which
	 * would cost as much as writing them for each batch.
	 */
	private final class Loader implements DictionaryCache.Loader {

		private final boolean verifies;

		private final long state;

		Loader(Verification verification, SpillFileSystem.State state) {
			this.verifies = verification != Verification.NEVER;
			// While the file grows, it is we who change it.
			boolean watch = verification == Verification.ALWAYS && FileReader.this.index.isFinished();
			this.state = watch ? state.modified() : DictionaryCache.ANY_STATE;
		}

		@Override
		public MessageBytes bytes(FileIndex.Position position) throws IOException, DamagedException {
			return FileReader.this.bytes(FileCipher.Kind.DICTIONARY, position);
		}

		@Override
		public boolean verifies() {
			return this.verifies;
		}

		@Override
		public void verify(MessageBytes bytes) throws DamagedException {
			if (!bytes.isVerified()) {
				compare(bytes);
			}
		}

		@Override
		public long state() {
			return this.state;
		}

	}

	/**
	 * What is read ahead.
	 */
	private final class Source implements ReadAhead.Source {

		private final FileWindows windows;

		Source(FileWindows windows) {
			this.windows = windows;
		}

		@Override
		public SpillFileSystem.State state() throws IOException {
			return FileReader.this.fileSystem.state(FileReader.this.file);
		}

		@Override
		public @Nullable MessageBytes acquire(FileIndex.Position position) {
			return this.windows.acquire(position, FileReader.this::map);
		}

	}

}
