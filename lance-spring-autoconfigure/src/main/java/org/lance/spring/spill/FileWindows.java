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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The regions of a file that are complete and can be mapped, each once and for all
 * readers. They start and end at batches. What comes behind the last one is still
 * written: whether a mapping would see it, no operating system promises.
 * <p>
 * May be used from any thread.
 */
final class FileWindows {

	private static final Logger logger = LoggerFactory.getLogger(FileWindows.class);

	/**
	 * How many windows of a file stay mapped in any case while no batch of them is in
	 * use.
	 */
	static final int MAX_MAPPED = 4;

	private final Path file;

	private final WindowPolicy policy;

	private final FileSpace space;

	private final SpareThreads spareThreads;

	private final List<Window> complete = new ArrayList<>();

	/**
	 * The windows that stay mapped until others are needed, the one used last at the end.
	 * Pages of a mapping that was read count as memory of the process, so they must not
	 * add up to the file.
	 */
	private final Set<Window> mapped = new LinkedHashSet<>();

	/**
	 * The windows that stay mapped as the budget had room for them. Not in exchange for
	 * others: of a file that is read again and again from its start, each would go before
	 * its turn comes.
	 */
	private final List<Window> kept = new ArrayList<>();

	private long start;

	/**
	 * One that is not kept any more. It takes time to unmap the pages of a window, so
	 * that another thread does it if one comes in time.
	 */
	private final AtomicReference<@Nullable MappedWindow> unused = new AtomicReference<>();

	private boolean warned;

	/**
	 * Creates windows.
	 * @param file the file, for messages
	 * @param policy how the file is mapped
	 * @param space the space of the file, retained by each mapping
	 * @param spareThreads threads that help to unmap
	 */
	FileWindows(Path file, WindowPolicy policy, FileSpace space, SpareThreads spareThreads) {
		this.spareThreads = spareThreads;
		this.file = file;
		this.policy = policy;
		this.space = space;
	}

	/**
	 * Says that a batch was committed. One that is larger than a window gets one of its
	 * own.
	 */
	synchronized void committed(long from, long to) {
		if (to - this.start > this.policy.size() && from > this.start) {
			close(from);
		}
		if (to - this.start >= this.policy.size()) {
			close(to);
		}
	}

	/**
	 * Says that nothing more is written.
	 */
	synchronized void finished(long end) {
		if (end > this.start) {
			close(end);
		}
	}

	private void close(long end) {
		this.complete.add(new Window(this.start, end - this.start));
		this.start = end;
	}

	/**
	 * Takes the mapping of the window that holds a message.
	 * @param mapping maps a window that is not mapped
	 * @return the message in the mapping, or {@code null} if it has to be read
	 */
	@Nullable MessageBytes acquire(FileIndex.Position message, Mapping mapping) {
		MappedWindow before = this.unused.get();
		MessageBytes bytes = find(message, mapping);
		MappedWindow now = this.unused.get();
		if (now != null && now != before && !this.spareThreads.offer(this::unmapUnused)) {
			unmapUnused();
		}
		return bytes;
	}

	private synchronized @Nullable MessageBytes find(FileIndex.Position message, Mapping mapping) {
		Window window = find(message.offset());
		if (window == null || window.size > MappedWindow.maxSize()) {
			return null;
		}
		MappedWindow current = window.mapped;
		if (current == null) {
			current = map(window, mapping);
			if (current == null) {
				return null;
			}
			window.mapped = current;
		}
		if (!window.kept) {
			use(window);
		}
		if (!current.tryRetain()) {
			throw new IllegalStateException("The mapping of an open file was given back");
		}
		return new MessageBytes(current.address() + message.offset() - window.start, message, 0, current::release);
	}

	/**
	 * Batches that readers have keep the mapping of their window, whatever is given back
	 * here.
	 */
	private void use(Window window) {
		this.mapped.remove(window);
		this.mapped.add(window);
		if (this.mapped.size() > MAX_MAPPED) {
			Window oldest = this.mapped.iterator().next();
			this.mapped.remove(oldest);
			if (this.policy.kept().tryReserve(oldest.size)) {
				oldest.kept = true;
				this.kept.add(oldest);
			}
			else {
				// One at a time, so that they don't add up if nobody comes to help.
				MappedWindow before = this.unused.getAndSet(oldest.take());
				if (before != null) {
					before.release();
				}
			}
		}
	}

	/**
	 * When this returns, no other thread is at it.
	 */
	private void unmapUnused() {
		synchronized (this.unused) {
			MappedWindow taken = this.unused.getAndSet(null);
			if (taken != null) {
				taken.release();
			}
		}
	}

	private @Nullable MappedWindow map(Window window, Mapping mapping) {
		try {
			MappedWindow current = mapping.map(window.start, window.size);
			if (current != null) {
				this.space.retain();
				current.whenUnmapped(this.space::release);
			}
			return current;
		}
		catch (IOException ex) {
			// If it is the file's fault, reading the batch will tell what is wrong.
			if (!this.warned) {
				this.warned = true;
				logger.warn("The spill file {} can't be mapped and is read instead: {}", this.file, ex.toString());
			}
			return null;
		}
	}

	private @Nullable Window find(long offset) {
		int low = 0;
		int high = this.complete.size() - 1;
		while (low <= high) {
			int middle = (low + high) >>> 1;
			Window window = this.complete.get(middle);
			if (offset < window.start) {
				high = middle - 1;
			}
			else if (offset >= window.start + window.size) {
				low = middle + 1;
			}
			else {
				return window;
			}
		}
		return null;
	}

	/**
	 * Gives the mappings back; batches that readers have keep theirs.
	 */
	synchronized void close() {
		this.policy.kept().giveBack(this.kept.stream().mapToLong((window) -> window.size).sum());
		this.mapped.addAll(this.kept);
		this.kept.clear();
		unmapUnused();
		this.mapped.forEach(Window::unmap);
		this.mapped.clear();
		this.complete.clear();
	}

	/**
	 * Maps a part of the file.
	 */
	@FunctionalInterface
	interface Mapping {

		/**
		 * Maps a part.
		 * @return the mapping, or {@code null} if the file is too short for it
		 */
		@Nullable MappedWindow map(long start, long size) throws IOException;

	}

	private static final class Window {

		private final long start;

		private final long size;

		private @Nullable MappedWindow mapped;

		private boolean kept;

		Window(long start, long size) {
			this.start = start;
			this.size = size;
		}

		@Nullable MappedWindow take() {
			MappedWindow current = this.mapped;
			this.mapped = null;
			return current;
		}

		void unmap() {
			MappedWindow current = take();
			if (current != null) {
				current.release();
			}
		}

	}

}
