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

import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;

/**
 * An immutable set of equal-length columns with a schema, a row count and the dictionary
 * versions its columns need, in reference-counted off-heap memory.
 * <p>
 * <b>Ownership.</b> This object is a handle: whoever is given one closes it.
 * {@link #share()} gives another handle on the same memory, which is freed when the last
 * handle and the last {@link OpenBatch} are closed. Closing is idempotent; use after
 * close is an {@link IllegalStateException}. A handle that becomes unreachable without
 * being closed is released by a cleaner, counted ({@link #lostHandles()}) and logged.
 * <p>
 * <b>Threads.</b> May be used and closed from any thread.
 *
 * @since 0.1.0
 */
public final class RecordBatch implements AutoCloseable {

	static {
		StructConflicts.allow();
	}

	private static final Cleaner cleaner = Cleaner.create();

	private final SealedBatch sealed;

	private final BatchReference reference;

	private final Cleaner.Cleanable cleanable;

	/**
	 * Takes one reference of {@code sealed} over.
	 */
	private RecordBatch(SealedBatch sealed) {
		this.sealed = sealed;
		this.reference = new BatchReference(sealed);
		this.cleanable = cleaner.register(this, this.reference);
	}

	/**
	 * Seals a copy of a root: the root may be changed, reused and closed afterwards, and
	 * its allocator as well.
	 * @param root the columns; must not be changed during the call
	 * @param dictionaries the dictionaries of its columns, or {@code null} if it has none
	 * @param allocator where the copy goes; must stay open until the batch is closed
	 * @return the batch, owned by the caller
	 * @throws InvalidRecordBatchException if the columns don't fit together
	 */
	public static RecordBatch copyOf(VectorSchemaRoot root, @Nullable DictionaryProvider dictionaries,
			BufferAllocator allocator) {
		try (BatchSealer sealer = new BatchSealer(root.getSchema(), allocator, BatchSealer.Mode.COPY)) {
			return sealer.seal(root, dictionaries);
		}
	}

	/**
	 * Seals untrusted parts, such as those of an IPC message: they are validated, and
	 * copied unless they lie in memory of the allocator's root.
	 * @param schema the schema in memory format (dictionary columns have their index
	 * type)
	 * @param body the buffers, uncompressed; the caller keeps and closes its own
	 * references
	 * @param dictionaries one version for each dictionary id of the schema; the batch
	 * takes references of its own
	 * @param allocator where copies go; must stay open until the batch is closed
	 * @return the batch, owned by the caller
	 * @throws InvalidRecordBatchException if the parts don't fit together
	 */
	public static RecordBatch seal(Schema schema, ArrowRecordBatch body, Collection<DictionaryVersion> dictionaries,
			BufferAllocator allocator) {
		return seal(schema, body, dictionaries, false, allocator);
	}

	static RecordBatch seal(Schema schema, ArrowRecordBatch body, Collection<DictionaryVersion> dictionaries,
			boolean copy, BufferAllocator allocator) {
		List<DictionaryVersion> versions = List.copyOf(dictionaries);
		List<SealedBuffers.MissingValidity> missing = BatchValidator.validate(schema, body, versions);
		return over(schema, SealedBuffers.seal(body, copy ? SealedBuffers.Keep.NOTHING : SealedBuffers.Keep.OWN_ROOT,
				missing, allocator), versions);
	}

	/**
	 * Makes a batch over memory that was sealed before, such as a mapped file. Nothing is
	 * validated and nothing is copied.
	 * @param schema the schema in memory format
	 * @param body the buffers, made by {@code memory}
	 * @param dictionaries one version for each dictionary id of the schema; the batch
	 * takes references of its own
	 * @param memory the memory; its first reference is taken over, also on failure
	 * @return the batch, owned by the caller
	 */
	public static RecordBatch over(Schema schema, ArrowRecordBatch body, Collection<DictionaryVersion> dictionaries,
			BatchMemory memory) {
		return over(schema, new SealedBuffers(body, memory), List.copyOf(dictionaries));
	}

	private static RecordBatch over(Schema schema, SealedBuffers buffers, List<DictionaryVersion> dictionaries) {
		List<DictionaryVersion> held = new ArrayList<>(dictionaries.size());
		try {
			for (DictionaryVersion version : dictionaries) {
				held.add(version.retain());
			}
			return new RecordBatch(new SealedBatch(schema, buffers, List.copyOf(held)));
		}
		catch (Throwable ex) {
			held.forEach(DictionaryVersion::close);
			buffers.memory().release();
			throw ex;
		}
	}

	/**
	 * Returns how many handles became unreachable without being closed, in this JVM.
	 * @return the number
	 */
	public static long lostHandles() {
		return BatchReference.lost();
	}

	/**
	 * Returns the schema in memory format: dictionary columns have their index type, as
	 * in {@link VectorSchemaRoot#getSchema()}.
	 * @return the schema
	 */
	public Schema schema() {
		return this.sealed.schema;
	}

	/**
	 * Returns the number of rows.
	 * @return the number, also for a batch without columns
	 */
	public int rowCount() {
		return this.sealed.buffers.body().getLength();
	}

	/**
	 * Returns the off-heap bytes that this batch keeps alive, plus what it costs on the
	 * heap. Each underlying allocation counts once and whole, however many columns share
	 * it and however little of it they use.
	 * @return the bytes
	 */
	public long memorySize() {
		return this.sealed.memorySize;
	}

	/**
	 * Visits the allocations behind this batch, so that several batches over one
	 * allocation can be counted once. All of them together are {@link #memorySize()}:
	 * what the batch costs on the heap counts as an allocation that its handles share.
	 * @param visitor is given the identity of each allocation and its whole size in bytes
	 */
	public void forEachAllocation(BiConsumer<Object, Long> visitor) {
		forEachAllocation((allocation) -> false, visitor);
	}

	/**
	 * Visits the allocations behind this batch that are not known yet. Batches of a
	 * dictionary that grows share all of its values but the last: counting them one after
	 * the other takes no longer for the last of them than for the first.
	 * @param known tells whether the identity of an allocation is that of one that was
	 * visited before, for this or another batch, together with all others of that batch
	 * @param visitor is given the identity of each other allocation and its whole size in
	 * bytes
	 */
	public void forEachAllocation(Predicate<Object> known, BiConsumer<Object, Long> visitor) {
		this.sealed.forEachAllocation(known, visitor);
	}

	/**
	 * Returns another handle on the same rows that keeps little more memory alive than
	 * they need: a few rows may keep a large allocation alive, of which they were a
	 * slice. The columns are copied if they use less than half of what they keep alive,
	 * and that is worth it; otherwise this is {@link #share()}. Dictionaries are never
	 * copied.
	 * @param allocator where a copy goes; must stay open until the batch is closed
	 * @return the handle, owned by the caller
	 * @throws org.apache.arrow.memory.OutOfMemoryException if the allocator refuses
	 */
	public RecordBatch compact(BufferAllocator allocator) {
		hold();
		try {
			if (!this.sealed.buffers.isWasteful()) {
				return share();
			}
			return over(this.sealed.schema, this.sealed.buffers.copy(allocator), this.sealed.dictionaries);
		}
		finally {
			this.sealed.release();
		}
	}

	/**
	 * Returns another handle on the same memory.
	 * @return the handle, owned by the caller
	 */
	public RecordBatch share() {
		hold();
		try {
			return new RecordBatch(this.sealed);
		}
		catch (Throwable ex) {
			this.sealed.release();
			throw ex;
		}
	}

	/**
	 * Returns another handle on the same memory that has the schema of a stream.
	 * @param schema the schema, in memory format; nullability and metadata may differ
	 * from those of this batch
	 * @return the handle, owned by the caller
	 * @throws SchemaMismatchException if the names, types or dictionary encodings differ
	 */
	public RecordBatch withSchema(Schema schema) {
		if (this.sealed.schema == schema || this.sealed.schema.equals(schema)) {
			return share();
		}
		Schemas.checkCompatible(schema, this.sealed.schema);
		hold();
		try {
			this.sealed.buffers.memory().retain();
			return over(schema, this.sealed.buffers, this.sealed.dictionaries);
		}
		finally {
			this.sealed.release();
		}
	}

	/**
	 * Opens the batch for ordinary Arrow code, without copying it.
	 * @param allocator the allocator of the vectors; any, it is not charged
	 * @return the vectors, owned by the caller, valid also after this handle was closed;
	 * to be read only, they share the memory of the batch
	 */
	public OpenBatch open(BufferAllocator allocator) {
		hold();
		try {
			return OpenBatch.load(this, allocator);
		}
		finally {
			this.sealed.release();
		}
	}

	/**
	 * Copies the columns into vectors that may be written. Dictionary columns keep their
	 * indexes; the dictionaries are those of {@link #open(BufferAllocator)}.
	 * @param allocator the allocator of the copy, charged for it
	 * @return the copy, owned by the caller
	 */
	public VectorSchemaRoot copyRoot(BufferAllocator allocator) {
		hold();
		try {
			return BatchCopy.of(this.sealed.schema, this.sealed.buffers.body(), allocator);
		}
		finally {
			this.sealed.release();
		}
	}

	/**
	 * Returns the buffers of the columns, in the order of the IPC format, aligned and
	 * uncompressed. For engine code that writes or counts them.
	 * @return the body, borrowed: valid while this handle is open, not to be closed
	 */
	public ArrowRecordBatch body() {
		checkOpen();
		return this.sealed.buffers.body();
	}

	/**
	 * Returns the dictionary versions, one for each id of the schema.
	 * @return the versions, borrowed: valid while this handle is open
	 */
	public List<DictionaryVersion> dictionaries() {
		checkOpen();
		return this.sealed.dictionaries;
	}

	/**
	 * Tells whether this handle is closed.
	 * @return whether it is
	 */
	public boolean isClosed() {
		return this.reference.isClosed();
	}

	/**
	 * Gives this handle back.
	 */
	@Override
	public void close() {
		if (this.reference.close()) {
			this.cleanable.clean();
		}
	}

	/**
	 * Takes a reference for the time of a call, so that a close by another thread
	 * meanwhile is no crash.
	 */
	private void hold() {
		checkOpen();
		if (!this.sealed.tryRetain()) {
			throw closedException();
		}
	}

	private void checkOpen() {
		if (isClosed()) {
			throw closedException();
		}
	}

	private static IllegalStateException closedException() {
		return new IllegalStateException("This record batch is closed; share() it before its handle is closed");
	}

	@Override
	public String toString() {
		return "record batch of %d rows, %d columns%s".formatted(rowCount(), schema().getFields().size(),
				isClosed() ? ", closed" : "");
	}

}
