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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.BatchMemory;
import org.lance.spring.stream.DictionaryVersion;

/**
 * The dictionary versions of a file that are in use. All batches share one object for
 * each version: readers tell by its identity that a dictionary did not change. The ones
 * used last are kept for the next batch, within a bound; older ones as long as some batch
 * holds them.
 * <p>
 * May be used from any thread.
 */
final class DictionaryCache {

	static final long ANY_STATE = 0;

	private static final long UNVERIFIED = Long.MIN_VALUE;

	private static final int MAX_RECENT = 16;

	private static final long MAX_ALLOCATED = 32 << 20;

	private final FileIndex index;

	private final BufferAllocator allocator;

	private final Map<Integer, Entry> live = new ConcurrentHashMap<>();

	/**
	 * Entries with a reference of this cache, the one used last at the end; guarded by
	 * itself.
	 */
	private final Map<Integer, Entry> recent = new LinkedHashMap<>(MAX_RECENT * 2, 0.75F, true);

	private long recentBytes;

	DictionaryCache(FileIndex index, BufferAllocator allocator) {
		this.index = index;
		this.allocator = allocator;
	}

	/**
	 * Takes the versions that are valid at a batch.
	 * @param loader gets those that are not in use
	 * @return the versions, owned by the caller
	 */
	List<DictionaryVersion> acquire(int batch, Loader loader) throws IOException, DamagedException {
		int[] numbers = this.index.dictionaries(batch);
		List<DictionaryVersion> versions = new ArrayList<>(numbers.length);
		try {
			for (int number : numbers) {
				versions.add(version(number, loader));
			}
			return versions;
		}
		catch (Throwable ex) {
			versions.forEach(DictionaryVersion::close);
			throw ex;
		}
	}

	private DictionaryVersion version(Integer number, Loader loader) throws IOException, DamagedException {
		Entry entry = find(number);
		if (entry == null) {
			entry = load(number, loader);
		}
		try {
			entry.verify(loader);
			keep(entry);
			return entry.version;
		}
		catch (Throwable ex) {
			entry.version.close();
			throw ex;
		}
	}

	/**
	 * Takes a reference on a version if it is in use.
	 */
	private @Nullable Entry find(Integer number) {
		Entry entry = this.live.get(number);
		return (entry != null && entry.version.tryRetain()) ? entry : null;
	}

	/**
	 * Loads a version and those before it that it continues. A loop and not a recursion:
	 * there may be thousands of them.
	 */
	private synchronized Entry load(Integer number, Loader loader) throws IOException, DamagedException {
		Deque<Integer> missing = new ArrayDeque<>();
		Entry entry = find(number);
		for (int i = number; i >= 0 && entry == null;) {
			missing.push(i);
			i = this.index.dictionary(i).previous();
			entry = find(i);
		}
		while (!missing.isEmpty()) {
			Entry previous = entry;
			try {
				entry = load(missing.pop(), previous, loader);
			}
			finally {
				if (previous != null) {
					previous.version.close();
				}
			}
		}
		return Objects.requireNonNull(entry);
	}

	private Entry load(Integer number, @Nullable Entry previous, Loader loader) throws IOException, DamagedException {
		FileIndex.DictionaryEntry where = this.index.dictionary(number);
		MessageBytes bytes = loader.bytes(where.position());
		Entry entry = new Entry(number, bytes, previous);
		boolean handedOver = false;
		try {
			entry.compare(loader);
			DictionaryBatch header = bytes.dictionary();
			if (header.isDelta() != (previous != null)) {
				throw new DamagedException("it is another dictionary than the one that was written", null);
			}
			ArrowRecordBatch values = bytes.body(header.data(), entry.memory);
			handedOver = true;
			entry.version = DictionaryVersion.over(header.id(), where.field(), values,
					(previous != null) ? previous.version : null, entry.memory);
			this.live.put(number, entry);
			return entry;
		}
		catch (RuntimeException ex) {
			throw new DamagedException("its dictionary can't be read", ex);
		}
		finally {
			if (!handedOver) {
				entry.memory.release();
			}
		}
	}

	private void keep(Entry entry) {
		List<Entry> old = new ArrayList<>();
		synchronized (this.recent) {
			if (this.recent.get(entry.number) == entry) {
				return;
			}
			entry.version.retain();
			Entry before = this.recent.put(entry.number, entry);
			this.recentBytes += entry.allocated;
			if (before != null) {
				this.recentBytes -= before.allocated;
				old.add(before);
			}
			Iterator<Entry> oldest = this.recent.values().iterator();
			while (this.recent.size() > 1 && (this.recent.size() > MAX_RECENT || this.recentBytes > MAX_ALLOCATED)) {
				Entry victim = oldest.next();
				oldest.remove();
				this.recentBytes -= victim.allocated;
				old.add(victim);
			}
		}
		old.forEach((victim) -> victim.version.close());
	}

	/**
	 * Gives the kept versions back; batches that readers have keep theirs.
	 */
	void close() {
		List<Entry> old;
		synchronized (this.recent) {
			old = new ArrayList<>(this.recent.values());
			this.recent.clear();
			this.recentBytes = 0;
		}
		old.forEach((victim) -> victim.version.close());
	}

	/**
	 * Gets and checks the bytes of messages.
	 */
	interface Loader {

		MessageBytes bytes(FileIndex.Position position) throws IOException, DamagedException;

		/**
		 * Tells whether checksums are compared at all.
		 */
		boolean verifies();

		void verify(MessageBytes bytes) throws DamagedException;

		/**
		 * Returns a number that changes when somebody else changes the file, or
		 * {@link DictionaryCache#ANY_STATE} if an earlier comparison will do.
		 */
		long state();

	}

	private final class Entry {

		private final Integer number;

		private final MessageBytes bytes;

		private final @Nullable Entry previous;

		private final BatchMemory memory;

		/**
		 * Memory held, with that of the versions before.
		 */
		private final long allocated;

		@SuppressWarnings("NullAway.Init")
		private DictionaryVersion version;

		/**
		 * The state of the file at which it was verified.
		 */
		private volatile long verified = UNVERIFIED;

		Entry(Integer number, MessageBytes bytes, @Nullable Entry previous) {
			this.number = number;
			this.bytes = bytes;
			this.previous = previous;
			this.allocated = bytes.allocated() + ((previous != null) ? previous.allocated : 0);
			this.memory = new BatchMemory(DictionaryCache.this.allocator, bytes.length(), () -> {
				DictionaryCache.this.live.remove(number, this);
				bytes.release().run();
			});
		}

		/**
		 * Another reader may have loaded it without verification, and somebody may have
		 * changed a mapped file since.
		 */
		void verify(Loader loader) throws DamagedException {
			for (Entry entry = this; entry != null && !entry.isVerified(loader); entry = entry.previous) {
				entry.compare(loader);
			}
		}

		private boolean isVerified(Loader loader) {
			long state = loader.state();
			return !loader.verifies() || (this.verified != UNVERIFIED
					&& (state == ANY_STATE || state == this.verified || this.bytes.allocated() > 0));
		}

		void compare(Loader loader) throws DamagedException {
			if (loader.verifies()) {
				loader.verify(this.bytes);
				this.verified = loader.state();
			}
		}

	}

}
