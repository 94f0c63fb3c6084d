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
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Field;
import org.jspecify.annotations.Nullable;

/**
 * One version of a dictionary, immutable: either all of its values, or a delta, the
 * values that follow those of the version before. A replacement or delta that comes later
 * is another version and never changes this one.
 * <p>
 * <b>Ownership.</b> Reference-counted. Whoever creates one owns a reference and gives it
 * back by {@link #close()}; a {@link RecordBatch} takes references of its own.
 *
 * @since 0.1.0
 */
public final class DictionaryVersion implements AutoCloseable {

	private final long id;

	private final Field field;

	private final SealedBuffers values;

	private final @Nullable DictionaryVersion previous;

	private final int valueCount;

	/**
	 * The bytes of all deltas, up to this version. Kept, because a dictionary may have
	 * grown by thousands of deltas, with a batch to be counted after each.
	 */
	private final long deltaBytes;

	private final DictionaryVersion first;

	/**
	 * What the values need of other dictionaries, for values that are dictionary-encoded
	 * themselves.
	 */
	private final Map<Long, Long> highestIndexes;

	private final References references = new References("A dictionary version");

	/**
	 * All values, put together when they are first needed.
	 */
	private @Nullable SealedBuffers materialised;

	private DictionaryVersion(long id, Field field, SealedBuffers values, @Nullable DictionaryVersion previous,
			Map<Long, Long> highestIndexes) {
		this.id = id;
		this.field = field;
		this.values = values;
		this.previous = previous;
		this.highestIndexes = highestIndexes;
		this.valueCount = Math.addExact(values.body().getLength(), (previous != null) ? previous.valueCount : 0);
		this.deltaBytes = (previous != null) ? previous.deltaBytes + values.memory().getSize() : 0;
		this.first = (previous != null) ? previous.first : this;
	}

	/**
	 * Seals a version from untrusted values: they are validated, and copied unless they
	 * lie in memory of the allocator's root. A delta is always copied.
	 * @param id the id of the dictionary
	 * @param field the field of the values, in memory format
	 * @param values one column of values; the caller keeps and closes its own references
	 * @param previous the version that this one continues, or {@code null}
	 * @param allocator where copies go
	 * @return the version, owned by the caller
	 * @throws InvalidRecordBatchException if the values are malformed
	 */
	public static DictionaryVersion seal(long id, Field field, ArrowRecordBatch values,
			@Nullable DictionaryVersion previous, BufferAllocator allocator) {
		return seal(id, field, values, previous, SealedBuffers.Keep.OWN_ROOT, allocator);
	}

	static DictionaryVersion seal(long id, Field field, ArrowRecordBatch values, @Nullable DictionaryVersion previous,
			SealedBuffers.Keep keep, BufferAllocator allocator) {
		checkContinues(id, field, previous);
		BatchValidator.Values valid = BatchValidator.validateValues(id, field, values);
		Map<Long, Long> highest = new HashMap<>(valid.highestIndexes());
		if (previous != null) {
			previous.highestIndexes.forEach((nested, index) -> highest.merge(nested, index, Math::max));
		}
		// Deltas are small and have memory of their own, shared with nothing else: so the
		// memory of a dictionary is the sum of its deltas and need not be looked for.
		SealedBuffers.Keep kept = (previous != null) ? SealedBuffers.Keep.NOTHING : keep;
		return create(id, field, SealedBuffers.seal(values, kept, valid.missing(), allocator), previous,
				Map.copyOf(highest));
	}

	/**
	 * Makes a version over memory that was sealed before, such as a mapped file.
	 * @param id the id of the dictionary
	 * @param field the field of the values, in memory format
	 * @param values one column of values, its buffers made by {@code memory}
	 * @param previous the version that this one continues, or {@code null}
	 * @param memory the memory, for these values alone; its first reference is taken
	 * over, also on failure
	 * @return the version, owned by the caller
	 */
	public static DictionaryVersion over(long id, Field field, ArrowRecordBatch values,
			@Nullable DictionaryVersion previous, BatchMemory memory) {
		return create(id, field, new SealedBuffers(values, memory), previous, Map.of());
	}

	private static DictionaryVersion create(long id, Field field, SealedBuffers values,
			@Nullable DictionaryVersion previous, Map<Long, Long> highestIndexes) {
		boolean continues = false;
		try {
			checkContinues(id, field, previous);
			if (previous != null) {
				previous.references.retain(1);
				continues = true;
			}
			return new DictionaryVersion(id, field, values, previous, highestIndexes);
		}
		catch (Throwable ex) {
			values.memory().release();
			if (continues && previous != null) {
				previous.close();
			}
			throw ex;
		}
	}

	private static void checkContinues(long id, Field field, @Nullable DictionaryVersion previous) {
		if (previous == null) {
			return;
		}
		if (previous.id != id || !previous.field.getType().equals(field.getType())
				|| !previous.field.getChildren().equals(field.getChildren())) {
			throw new InvalidRecordBatchException("Dictionary %d of %s can't be continued by dictionary %d of %s"
				.formatted(previous.id, previous.field, id, field));
		}
		DictionaryAppender.checkSupported(id, field);
	}

	/**
	 * Returns the id of the dictionary.
	 * @return the id
	 */
	public long id() {
		return this.id;
	}

	/**
	 * Returns the field of the values, in memory format.
	 * @return the field
	 */
	public Field field() {
		return this.field;
	}

	/**
	 * Returns the values of this version alone: all of them, or those of the delta.
	 * @return the values, borrowed: valid while this version is held
	 */
	public ArrowRecordBatch values() {
		return this.values.body();
	}

	/**
	 * Returns the version that this one continues.
	 * @return the version, borrowed, or {@code null} if this one has all values itself
	 */
	public @Nullable DictionaryVersion previous() {
		return this.previous;
	}

	/**
	 * Returns the number of values including those of the versions that it continues.
	 * @return the number
	 */
	public int valueCount() {
		return this.valueCount;
	}

	/**
	 * The highest index into each other dictionary that the values refer to; empty for
	 * memory that was sealed before.
	 */
	Map<Long, Long> highestIndexes() {
		return this.highestIndexes;
	}

	/**
	 * Takes another reference.
	 * @return this version
	 */
	public DictionaryVersion retain() {
		this.references.retain(1);
		return this;
	}

	/**
	 * Takes another reference, unless the last one was given back.
	 * @return whether a reference was taken
	 */
	public boolean tryRetain() {
		return this.references.tryRetain(1);
	}

	/**
	 * Gives one reference back.
	 */
	@Override
	public void close() {
		DictionaryVersion version = this;
		// A loop: a dictionary may have grown by thousands of deltas.
		while (version != null && version.references.release(1)) {
			version.values.memory().release();
			version.giveMaterialisedBack();
			version = version.previous;
		}
	}

	/**
	 * The bytes of all deltas, which have memory of their own.
	 */
	long deltaBytes() {
		return this.deltaBytes;
	}

	/**
	 * Visits the allocations behind the values, so that what many batches share can be
	 * counted once.
	 * @param known tells of an allocation that it was visited before; who knows a delta
	 * knows those before it, which are not asked for then
	 * @param visitor is given the identity of each other allocation and its whole size in
	 * bytes
	 */
	public void forEachAllocation(Predicate<Object> known, BiConsumer<Object, Long> visitor) {
		forEachChunkOfFirst((allocation, bytes) -> {
			if (!known.test(allocation)) {
				visitor.accept(allocation, bytes);
			}
		});
		forEachDelta(known, visitor);
	}

	/**
	 * Visits the allocations of the values that the deltas were added to.
	 */
	void forEachChunkOfFirst(BiConsumer<Object, Long> visitor) {
		this.first.values.memory().forEachChunk(visitor);
	}

	/**
	 * Visits the deltas, each of which is an allocation of its own.
	 * @param known ends the walk: who knows a delta knows those before it
	 */
	void forEachDelta(Predicate<Object> known, BiConsumer<Object, Long> visitor) {
		for (DictionaryVersion version = this; version.previous != null
				&& !known.test(version); version = version.previous) {
			visitor.accept(version, version.values.memory().getSize());
		}
	}

	/**
	 * Loads all values into a vector of their own, without copying them. Deltas are put
	 * together once per version.
	 * @param allocator the allocator of the vector
	 * @return the vector, owned by the caller; read-only
	 */
	FieldVector load(BufferAllocator allocator) {
		return withWhole((values) -> DictionaryAppender.load(this.field, values, allocator));
	}

	/**
	 * Uses all values in one body, borrowed for the time of the call.
	 */
	<R> R withWhole(Function<ArrowRecordBatch, R> use) {
		if (this.previous == null) {
			return use.apply(this.values.body());
		}
		SealedBuffers whole = Objects.requireNonNull(retainMaterialised(true));
		try {
			return use.apply(whole.body());
		}
		finally {
			whole.memory().release();
		}
	}

	/**
	 * Takes a reference on all values in one body.
	 * @param create whether to put them together if they are not
	 * @return the body, or {@code null} if it is not there and not to be created
	 */
	private synchronized @Nullable SealedBuffers retainMaterialised(boolean create) {
		if (this.materialised == null && create) {
			this.materialised = materialise();
		}
		if (this.materialised != null) {
			this.materialised.memory().retain();
		}
		return this.materialised;
	}

	/**
	 * Starts from the nearest version that was put together already, otherwise a
	 * dictionary of n deltas would be put together n times; and takes its copy away,
	 * otherwise n copies would be kept. Locks go from newer to older versions only.
	 */
	private SealedBuffers materialise() {
		Deque<ArrowRecordBatch> parts = new ArrayDeque<>();
		DictionaryVersion start = null;
		SealedBuffers whole = null;
		try {
			for (DictionaryVersion version = this; version != null; version = version.previous) {
				whole = (version != this && version.previous != null) ? version.retainMaterialised(false) : null;
				if (whole != null) {
					start = version;
					parts.addFirst(whole.body());
					break;
				}
				parts.addFirst(version.values.body());
			}
			return DictionaryAppender.append(this, parts, this.values.memory().getAllocator());
		}
		finally {
			if (start != null && whole != null) {
				whole.memory().release();
				start.giveMaterialisedBack();
			}
		}
	}

	private synchronized void giveMaterialisedBack() {
		SealedBuffers whole = this.materialised;
		this.materialised = null;
		if (whole != null) {
			whole.memory().release();
		}
	}

	@Override
	public String toString() {
		return "dictionary %d, %d values%s".formatted(this.id, this.valueCount,
				(this.previous != null) ? ", by a delta" : "");
	}

}
