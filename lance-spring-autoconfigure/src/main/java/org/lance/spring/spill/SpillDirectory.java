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
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The private directory of one manager in one configured directory, made for the first
 * file, and again if somebody removed it.
 * <p>
 * May be used from any thread.
 */
final class SpillDirectory {

	private static final Logger logger = LoggerFactory.getLogger(SpillDirectory.class);

	private final SpillFileSystem fileSystem;

	private final Supplier<Path> base;

	private final FreeSpace freeSpace;

	private final DirectoryHealth health;

	/**
	 * Whether the log says that it has too little space.
	 */
	private final AtomicBoolean passedOver = new AtomicBoolean();

	private volatile @Nullable OwnedDirectory current;

	/**
	 * Directories that lost their lock file; their files may be in use.
	 */
	private final List<OwnedDirectory> damaged = new ArrayList<>();

	private boolean closed;

	SpillDirectory(SpillFileSystem fileSystem, Supplier<Path> base, FreeSpace freeSpace, DirectoryHealth health) {
		this.fileSystem = fileSystem;
		this.base = base;
		this.freeSpace = freeSpace;
		this.health = health;
	}

	/**
	 * Says that bytes are about to be written to a file in it.
	 * @throws LowSpaceException if too little of the disk would stay free
	 */
	void take(long bytes) throws LowSpaceException {
		OwnedDirectory directory = this.current;
		if (directory != null) {
			this.freeSpace.take(directory.path(), bytes);
		}
	}

	/**
	 * Says that something in it failed. That too little is free for a new file or that it
	 * was removed is looked after with each file anyway.
	 */
	void failed(IOException why) {
		if (why instanceof LowSpaceException && this.passedOver.compareAndSet(false, true)) {
			logger.warn("Spills pass over the directory {} as long as it is so: {}", this, why.getMessage());
		}
		if (!(why instanceof LowSpaceException) && !(why instanceof NoSuchFileException) && this.health.failed()) {
			logger.warn("Spills avoid the directory {} for a while if there is another one: {}", this, why.toString());
		}
	}

	/**
	 * Says that a file was created in it.
	 */
	void works() {
		this.passedOver.set(false);
		if (this.health.works()) {
			logger.info("The spill directory {} can be used again", this);
		}
	}

	/**
	 * Says that a file could not grow as far as it had to. Its spill tells why.
	 */
	void full() {
		this.health.full();
	}

	boolean isLeftAlone() {
		return this.health.isLeftAlone();
	}

	/**
	 * When it failed or was full, {@link Instant#MIN} if never.
	 */
	Instant troubledAt() {
		return this.health.troubledAt();
	}

	/**
	 * Returns the directory for a new file.
	 */
	synchronized Path path() throws IOException {
		if (this.closed) {
			throw new IllegalStateException("The spill directory was removed by close()");
		}
		OwnedDirectory directory = this.current;
		if (directory != null && !directory.isIntact(this.fileSystem)) {
			logger.warn("Somebody removed the spill directory {} or its lock file. Keep clean-up jobs away from it",
					directory.path());
			this.damaged.add(directory);
			directory = null;
		}
		if (directory == null) {
			directory = OwnedDirectory.create(this.fileSystem, base());
			this.current = directory;
		}
		return directory.path();
	}

	private Path base() throws IOException {
		try {
			return this.base.get();
		}
		catch (RuntimeException ex) {
			throw new IOException("The configured directory can't be determined: " + ex.getMessage(), ex);
		}
	}

	/**
	 * Removes what dead processes left behind, and logs what is wrong with the directory.
	 * Never throws: neither must keep this process from working.
	 * @return how many directories of dead processes were removed
	 */
	int reclaim() {
		try {
			Path directory = base();
			int removed = new OrphanSweep(this.fileSystem, directory).run();
			new DirectoryCheck(this.fileSystem, directory).run();
			return removed;
		}
		catch (IOException | RuntimeException ex) {
			logger.warn("The spill directory {} can't be looked through for those of dead processes", this, ex);
			return 0;
		}
	}

	/**
	 * Removes what is left of this process; the directory above stays. Idempotent.
	 */
	synchronized void close() {
		this.closed = true;
		OwnedDirectory last = this.current;
		if (last != null) {
			this.damaged.add(last);
			this.current = null;
		}
		for (OwnedDirectory directory : this.damaged) {
			try {
				directory.remove(this.fileSystem);
			}
			catch (IOException ex) {
				logger.warn("The spill directory {} can't be removed: {}", directory.path(), ex.toString());
			}
		}
		this.damaged.clear();
	}

	@Override
	public String toString() {
		try {
			return base().toString();
		}
		catch (IOException ex) {
			return "for temporary files";
		}
	}

}
