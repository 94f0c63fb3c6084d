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
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.util.ByteFunctionHelpers;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Seals the batches that one producer makes one after the other. A dictionary that did
 * not change since the batch before is kept as the same version.
 * <p>
 * <b>Ownership.</b> Holds the last dictionary versions until {@link #close()}; the
 * batches belong to the caller and live on. <b>Threads.</b> One at a time.
 *
 * @since 0.1.0
 */
public final class BatchSealer implements AutoCloseable {

	static {
		StructConflicts.allow();
	}

	/**
	 * What the producer does with its buffers when it makes the next batch.
	 *
	 * @since 0.1.0
	 */
	public enum Mode {

		/**
		 * It replaces them, as IPC readers and C Data imports do: memory under the root
		 * of the engine's allocator is shared, other memory is copied.
		 */
		SHARE,

		/**
		 * It may write into them again: everything is copied.
		 */
		COPY

	}

	private final Schema schema;

	private final BufferAllocator allocator;

	private final boolean copy;

	private final Map<Long, DictionaryVersion> versions = new HashMap<>();

	/**
	 * Where the dictionaries lay that became the versions.
	 */
	private final Map<Long, BodyIdentity> identities = new HashMap<>();

	private boolean closed;

	/**
	 * Creates a sealer.
	 * @param schema the schema that all batches get; a root must have the same names and
	 * types, while its nullability and metadata may differ
	 * @param allocator where copies go; must stay open until the batches are closed
	 * @param mode what the producer does with its buffers
	 */
	public BatchSealer(Schema schema, BufferAllocator allocator, Mode mode) {
		this.schema = schema;
		this.allocator = allocator;
		this.copy = mode == Mode.COPY;
	}

	/**
	 * Seals what a root holds now. The root stays the caller's.
	 * @param root the columns; must not be changed during the call
	 * @param provider the dictionaries of its columns, or {@code null} if it has none
	 * @return the batch, owned by the caller
	 * @throws SchemaMismatchException if the root has another schema
	 * @throws InvalidRecordBatchException if the columns don't fit together
	 */
	public RecordBatch seal(VectorSchemaRoot root, @Nullable DictionaryProvider provider) {
		if (this.closed) {
			throw new IllegalStateException("This sealer is closed");
		}
		Schemas.checkCompatible(this.schema, root.getSchema());
		List<DictionaryVersion> current = versions(provider);
		ArrowRecordBatch body = VectorBody.of(root.getRowCount(), root.getFieldVectors());
		return RecordBatch.seal(this.schema, body, current, this.copy, this.allocator);
	}

	private List<DictionaryVersion> versions(@Nullable DictionaryProvider provider) {
		Map<Long, DictionaryVersion> current = new LinkedHashMap<>();
		collect(this.schema.getFields(), provider, current);
		return new ArrayList<>(current.values());
	}

	private void collect(List<Field> fields, @Nullable DictionaryProvider provider,
			Map<Long, DictionaryVersion> current) {
		for (long id : Dictionaries.encodings(fields).keySet()) {
			if (current.containsKey(id)) {
				continue;
			}
			Dictionary dictionary = (provider != null) ? provider.lookup(id) : null;
			if (dictionary == null) {
				throw new InvalidRecordBatchException(
						"Dictionary %d is missing: pass a DictionaryProvider that knows every dictionary of the schema"
							.formatted(id));
			}
			DictionaryVersion version = version(id, dictionary.getVector());
			current.put(id, version);
			collect(List.of(version.field()), provider, current);
		}
	}

	private DictionaryVersion version(long id, FieldVector vector) {
		ArrowRecordBatch values = VectorBody.of(vector.getValueCount(), List.of(vector));
		Field field = vector.getField();
		BodyIdentity identity = BodyIdentity.of(values);
		DictionaryVersion last = this.versions.get(id);
		if (last != null && last.field().equals(field)) {
			// A producer that only replaces its buffers has the same values in the same
			// place; one that writes into them has to be compared.
			boolean same = (!this.copy && identity.equals(this.identities.get(id)))
					|| last.withWhole((whole) -> same(whole, values));
			if (same) {
				this.identities.put(id, identity);
				return last;
			}
		}
		DictionaryVersion version = DictionaryVersion.seal(id, field, values, null,
				this.copy ? SealedBuffers.Keep.NOTHING : SealedBuffers.Keep.SEALED, this.allocator);
		this.versions.put(id, version);
		this.identities.put(id, identity);
		if (last != null) {
			last.close();
		}
		return version;
	}

	private static boolean same(ArrowRecordBatch left, ArrowRecordBatch right) {
		List<ArrowBuf> leftBuffers = left.getBuffers();
		List<ArrowBuf> rightBuffers = right.getBuffers();
		if (left.getLength() != right.getLength() || leftBuffers.size() != rightBuffers.size()) {
			return false;
		}
		for (int i = 0; i < leftBuffers.size(); i++) {
			if (!same(leftBuffers.get(i), rightBuffers.get(i))) {
				return false;
			}
		}
		return true;
	}

	private static boolean same(ArrowBuf left, ArrowBuf right) {
		long length = SealedBuffers.available(left);
		return length == SealedBuffers.available(right)
				&& (length == 0 || ByteFunctionHelpers.equal(left, left.readerIndex(), left.readerIndex() + length,
						right, right.readerIndex(), right.readerIndex() + length) != 0);
	}

	@Override
	public void close() {
		this.closed = true;
		this.identities.clear();
		this.versions.values().forEach(DictionaryVersion::close);
		this.versions.clear();
	}

}
