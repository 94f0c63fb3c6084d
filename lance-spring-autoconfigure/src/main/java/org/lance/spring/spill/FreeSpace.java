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
import java.time.InstantSource;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches that enough of the disk of one directory stays free, whoever fills it. Asking
 * the system costs far more than writing a small batch does, so it is asked again after
 * some bytes or some time, and before anything is refused.
 * <p>
 * May be used from any thread.
 */
final class FreeSpace {

	private static final Logger logger = LoggerFactory.getLogger(FreeSpace.class);

	/**
	 * After how many bytes of ours the system is asked again.
	 */
	static final long BYTES = 16L << 20;

	/**
	 * After how much time the system is asked again.
	 */
	static final long MILLIS = 1000;

	private final SpillFileSystem fileSystem;

	private final SpaceFloor floor;

	private final InstantSource clock;

	private boolean known;

	private long askedAt;

	private long takenSince;

	/**
	 * What the system said, less what was taken since.
	 */
	private long free;

	private long mustStay;

	FreeSpace(SpillFileSystem fileSystem, SpaceFloor floor, InstantSource clock) {
		this.fileSystem = fileSystem;
		this.floor = floor;
		this.clock = clock;
	}

	/**
	 * Says that bytes are about to be written.
	 * @throws LowSpaceException if too little would stay free; then nothing is taken
	 */
	synchronized void take(Path directory, long bytes) throws LowSpaceException {
		if (this.floor.isNone()) {
			return;
		}
		boolean asked = false;
		if (isOld(bytes)) {
			ask(directory);
			asked = true;
		}
		if (isShort(bytes) && !asked) {
			ask(directory);
		}
		if (isShort(bytes)) {
			throw new LowSpaceException(this.free, this.mustStay);
		}
		this.free -= bytes;
		this.takenSince += bytes;
	}

	private boolean isOld(long bytes) {
		long age = this.clock.millis() - this.askedAt;
		// Clocks may be set back.
		return !this.known || age < 0 || age >= MILLIS || this.takenSince + bytes > BYTES;
	}

	private boolean isShort(long bytes) {
		return this.known && this.free - bytes < this.mustStay;
	}

	private void ask(Path directory) {
		this.askedAt = this.clock.millis();
		this.takenSince = 0;
		try {
			SpillFileSystem.Volume volume = this.fileSystem.volume(directory);
			this.free = volume.usable();
			this.mustStay = this.floor.of(volume.total());
			this.known = true;
		}
		catch (IOException ex) {
			// If the disk is bad, writing will tell.
			logger.debug("The free space of {} can't be determined", directory, ex);
			this.known = false;
		}
	}

}
