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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.zip.CRC32;

import org.apache.arrow.memory.util.MemoryUtil;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the batches after the one that is being read prepared by a spare thread: their
 * pages are brought into the mapping, and their checksums are computed if they will be
 * compared. It takes no memory but that of mappings.
 * <p>
 * Only in a finished file: then its time of modification tells whether somebody changed
 * it after its checksum was computed, which counts for a second.
 */
final class ReadAhead {

	private static final Logger logger = LoggerFactory.getLogger(ReadAhead.class);

	/**
	 * Smaller batches are read in less time than it takes to have them prepared.
	 */
	private static final long MIN_LENGTH = 128L << 10;

	/**
	 * How far ahead of a reader, and up to the end of the batch that lies there. What is
	 * verified much earlier has left the cache of the processors when it is read.
	 */
	private static final long MAX_AHEAD = 8L << 20;

	/**
	 * How much is prepared for all readers. What was not taken in time makes room.
	 */
	private static final long MAX_BYTES = 4 * MAX_AHEAD;

	/**
	 * How many batches are prepared however large they are.
	 */
	private static final int MIN_PREPARED = 4;

	/**
	 * How much is done before others get their turn, and before the file is looked at
	 * again.
	 */
	private static final int MAX_PIECES = 8;

	/**
	 * How long a checksum counts after its batch began to be prepared. A batch that is
	 * read later is verified then.
	 */
	private static final long MAX_NANOS = Duration.ofSeconds(1).toNanos();

	/**
	 * Each is touched if nothing is verified, which maps it. To read all of it would take
	 * two threads to the memory for the same bytes.
	 */
	private static final int PAGE = 1 << 12;

	private final Source source;

	private final FileIndex index;

	private final SpareThreads spareThreads;

	/**
	 * By the number of the batch; guarded by this.
	 */
	private final Map<Integer, Prepared> prepared = new LinkedHashMap<>();

	/**
	 * The bytes of what is prepared; guarded by this.
	 */
	private long bytes;

	private boolean closed;

	ReadAhead(Source source, FileIndex index, SpareThreads spareThreads) {
		this.source = source;
		this.index = index;
		this.spareThreads = spareThreads;
	}

	/**
	 * Has the next batches prepared, if there are any and it is worth it.
	 * @param next the number of the first one
	 * @param verifies tells whether the checksum of a batch will be compared
	 * @param state what the file is, or was a while ago
	 */
	void prepare(int next, IntPredicate verifies, SpillFileSystem.State state) {
		if (!this.index.isFinished() || !this.spareThreads.mayHelp()) {
			return;
		}
		List<Prepared> news = new ArrayList<>();
		int end = this.index.batches();
		long ahead = 0;
		for (int batch = next; batch < end && (ahead == 0 || ahead < MAX_AHEAD); batch++) {
			FileIndex.Position position = this.index.batch(batch);
			ahead += position.length();
			if (isPrepared(batch)) {
				if (ahead >= MAX_AHEAD / 2) {
					// Enough, and more are prepared at once: to wake a thread takes time.
					break;
				}
			}
			else {
				Prepared prepared = prepare(batch, position, verifies, state);
				if (prepared == null) {
					break;
				}
				news.add(prepared);
			}
		}
		offer(news, 0, state);
	}

	private void offer(List<Prepared> news, int first, SpillFileSystem.State state) {
		if (first < news.size()) {
			this.spareThreads.offer(() -> work(news, first, state));
		}
	}

	/**
	 * Works on a spare thread, maybe long after it was asked to: the file may have been
	 * cut meanwhile, and must not be touched then.
	 */
	private void work(List<Prepared> news, int first, SpillFileSystem.State state) {
		try {
			if (!this.source.state().equals(state)) {
				return;
			}
		}
		catch (IOException ex) {
			logger.debug("Nothing is read ahead; whoever reads on will see what is wrong", ex);
			return;
		}
		int left = MAX_PIECES;
		for (int i = first; i < news.size(); i++) {
			left -= news.get(i).work(left);
			if (left == 0) {
				offer(news, i, state);
				return;
			}
		}
	}

	private synchronized boolean isPrepared(int batch) {
		return this.prepared.containsKey(batch);
	}

	private @Nullable Prepared prepare(int batch, FileIndex.Position position, IntPredicate verifies,
			SpillFileSystem.State state) {
		if (position.length() < MIN_LENGTH || position.encrypted() || position.isCompressed()
				|| state.size() < position.end()) {
			return null;
		}
		MessageBytes bytes = this.source.acquire(position);
		if (bytes == null) {
			return null;
		}
		Prepared prepared = new Prepared(bytes, verifies.test(batch), state);
		if (add(batch, prepared)) {
			return prepared;
		}
		prepared.close();
		return null;
	}

	private boolean add(int batch, Prepared news) {
		List<Prepared> old = new ArrayList<>();
		boolean added;
		synchronized (this) {
			if (isFull()) {
				removeOld(old);
			}
			added = !this.closed && !isFull() && this.prepared.putIfAbsent(batch, news) == null;
			if (added) {
				this.bytes += news.length();
			}
		}
		old.forEach(Prepared::close);
		return added;
	}

	private boolean isFull() {
		return this.bytes >= MAX_BYTES && this.prepared.size() >= MIN_PREPARED;
	}

	private void removeOld(List<Prepared> removed) {
		Iterator<Prepared> all = this.prepared.values().iterator();
		while (all.hasNext()) {
			Prepared next = all.next();
			if (next.isOld()) {
				all.remove();
				this.bytes -= next.length();
				removed.add(next);
			}
		}
	}

	/**
	 * Takes what is prepared of a batch.
	 * @return what it is, to be closed by the caller, or {@code null} if it is nothing
	 */
	synchronized @Nullable Prepared take(int batch) {
		Prepared taken = this.prepared.remove(batch);
		if (taken != null) {
			this.bytes -= taken.length();
		}
		return taken;
	}

	/**
	 * Gives everything back; no spare thread touches the file any more when this returns.
	 */
	void close() {
		List<Prepared> left;
		synchronized (this) {
			this.closed = true;
			left = List.copyOf(this.prepared.values());
			this.prepared.clear();
			this.bytes = 0;
		}
		left.forEach(Prepared::close);
	}

	/**
	 * The file that is read.
	 */
	interface Source {

		/**
		 * Tells what the file is now.
		 */
		SpillFileSystem.State state() throws IOException;

		/**
		 * Gives the bytes, mapped before if they are not.
		 * @return the bytes, owned by the caller, or {@code null} if they can't be mapped
		 */
		@Nullable MessageBytes acquire(FileIndex.Position position);

	}

	/**
	 * A batch that is being prepared; until it is closed, the spare thread goes on with
	 * it.
	 */
	final class Prepared implements AutoCloseable {

		private final MessageBytes bytes;

		private final boolean verifies;

		private final SpillFileSystem.State state;

		private final MessageChecksum checksum;

		private final long start = ReadAhead.this.spareThreads.time();

		Prepared(MessageBytes bytes, boolean verifies, SpillFileSystem.State state) {
			this.bytes = bytes;
			this.verifies = verifies;
			this.state = state;
			this.checksum = bytes.newChecksum();
		}

		/**
		 * Returns the checksum, as far as it is computed.
		 * @param now the bytes that it should be of
		 * @param nowState what the file is now
		 * @return the checksum, or {@code null} if it is of no use
		 */
		@Nullable MessageChecksum checksum(MessageBytes now, SpillFileSystem.State nowState) {
			boolean same = now.address() == this.bytes.address() && this.state.equals(nowState);
			return (this.verifies && same && !isOld()) ? this.checksum : null;
		}

		boolean isOld() {
			return ReadAhead.this.spareThreads.time() - this.start > MAX_NANOS;
		}

		long length() {
			return this.bytes.position().length();
		}

		/**
		 * Prepares some pieces.
		 * @return how many; fewer than asked for if no more are left
		 */
		int work(int pieces) {
			return this.checksum.help(this.verifies ? this.bytes::update : this::touch, pieces);
		}

		private void touch(CRC32 crc, int piece) {
			MessagePieces pieces = this.bytes.position().pieces();
			long start = pieces.start(piece);
			long end = start + pieces.length(piece);
			int sum = 0;
			for (long at = start; at < end; at += PAGE) {
				sum += MemoryUtil.getByte(this.bytes.address() + at);
			}
			crc.update(sum);
		}

		@Override
		public void close() {
			this.checksum.stop();
			this.bytes.release().run();
		}

	}

}
