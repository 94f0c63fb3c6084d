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
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Field;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.DictionaryVersion;

/**
 * The dictionaries of one IPC stream as they are now. A dictionary that did not come yet
 * is empty, so that only null indexes are valid.
 */
final class IpcDictionaries implements AutoCloseable {

	private final Map<Long, Field> fields;

	private final IpcBodyReader reader;

	private final BufferAllocator allocator;

	private final Map<Long, DictionaryVersion> versions = new HashMap<>();

	/**
	 * Stand-ins for those that did not come yet.
	 */
	private final Map<Long, DictionaryVersion> empty = new HashMap<>();

	private final Map<Long, IpcLayout> layouts = new HashMap<>();

	/**
	 * Whether a dictionary may come only once, apart from its deltas.
	 */
	private final boolean once;

	IpcDictionaries(Map<Long, Field> fields, boolean once, IpcBodyReader reader, BufferAllocator allocator) {
		this.fields = fields;
		this.once = once;
		this.reader = reader;
		this.allocator = allocator;
	}

	/**
	 * Takes a dictionary message.
	 */
	void accept(DictionaryBatch batch, IpcBody body) {
		long id = batch.id();
		Field field = this.fields.get(id);
		if (field == null) {
			throw new MalformedIpcException("No field of the schema uses dictionary %d".formatted(id));
		}
		org.apache.arrow.flatbuf.RecordBatch data = batch.data();
		if (data == null) {
			throw new MalformedIpcException("Dictionary %d has no values".formatted(id));
		}
		DictionaryVersion last = this.versions.get(id);
		boolean delta = batch.isDelta();
		if (delta && last == null) {
			throw new MalformedIpcException("Dictionary %d begins with a delta".formatted(id));
		}
		if (this.once && last != null && !delta) {
			throw new MalformedIpcException(
					"Dictionary %d is replaced, which the IPC file format forbids".formatted(id));
		}
		replace(id, this.reader.read(() -> "dictionary " + id, data, body, layout(id, field),
				(values) -> DictionaryVersion.seal(id, field, values, delta ? last : null, this.allocator)));
	}

	/**
	 * The current versions, one for each id, borrowed.
	 */
	List<DictionaryVersion> versions() {
		List<DictionaryVersion> current = new ArrayList<>(this.fields.size());
		for (Map.Entry<Long, Field> entry : this.fields.entrySet()) {
			DictionaryVersion version = this.versions.get(entry.getKey());
			current.add((version != null) ? version : this.empty.computeIfAbsent(entry.getKey(), (id) -> {
				ArrowRecordBatch values = layout(id, entry.getValue()).empty(this.allocator);
				return DictionaryVersion.seal(id, entry.getValue(), values, null, this.allocator);
			}));
		}
		return current;
	}

	private IpcLayout layout(long id, Field field) {
		return this.layouts.computeIfAbsent(id, (key) -> IpcLayout.of(List.of(field)));
	}

	private void replace(long id, DictionaryVersion version) {
		@Nullable DictionaryVersion last = this.versions.put(id, version);
		if (last != null) {
			last.close();
		}
	}

	@Override
	public void close() {
		this.versions.values().forEach(DictionaryVersion::close);
		this.versions.clear();
		this.empty.values().forEach(DictionaryVersion::close);
		this.empty.clear();
	}

}
