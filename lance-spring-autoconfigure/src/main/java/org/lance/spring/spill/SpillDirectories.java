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
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * The directories of a manager. New files go to one after the other, so that all disks
 * work; one that is full or fails is passed over, which also keeps a small disk from
 * taking as much as a large one. One that failed, or where a file could not grow, is left
 * alone for a while, as long as another works.
 * <p>
 * May be used from any thread.
 */
final class SpillDirectories {

	private final List<SpillDirectory> all;

	private final AtomicInteger turn = new AtomicInteger();

	SpillDirectories(List<SpillDirectory> all) {
		this.all = all;
	}

	/**
	 * Creates directories. Touches nothing.
	 * @param bases give the configured directories, asked by {@link #reclaim()} and when
	 * a private one is made
	 * @param floor how much of each disk must stay free
	 * @param retry how long one that failed is left alone
	 */
	static SpillDirectories of(SpillFileSystem fileSystem, List<Supplier<Path>> bases, SpaceFloor floor,
			InstantSource clock, Duration retry) {
		return new SpillDirectories(bases.stream()
			.map((base) -> new SpillDirectory(fileSystem, base, new FreeSpace(fileSystem, floor, clock),
					new DirectoryHealth(clock, retry)))
			.toList());
	}

	/**
	 * Creates something in the next directory that lets it.
	 * @param spill the name of the spill, for the failure
	 * @throws SpillException if none does
	 */
	<T> T create(String spill, Creation<T> creation) {
		Map<SpillDirectory, IOException> failures = new LinkedHashMap<>();
		for (SpillDirectory directory : inTurn()) {
			try {
				T created = creation.in(directory);
				directory.works();
				return created;
			}
			catch (IOException ex) {
				directory.failed(ex);
				failures.put(directory, ex);
			}
		}
		throw FileErrors.creating(spill, failures);
	}

	/**
	 * Those that are left alone come last, and come at all: there may be no other. The
	 * one whose trouble is oldest is first, so that they take turns too.
	 */
	private List<SpillDirectory> inTurn() {
		List<SpillDirectory> healthy = new ArrayList<>();
		List<Map.Entry<Instant, SpillDirectory>> others = new ArrayList<>();
		for (SpillDirectory directory : this.all) {
			if (directory.isLeftAlone()) {
				others.add(Map.entry(directory.troubledAt(), directory));
			}
			else {
				healthy.add(directory);
			}
		}
		others.sort(Map.Entry.comparingByKey());
		List<SpillDirectory> result = new ArrayList<>(this.all.size());
		if (!healthy.isEmpty()) {
			int first = Math.floorMod(this.turn.getAndIncrement(), healthy.size());
			result.addAll(healthy.subList(first, healthy.size()));
			result.addAll(healthy.subList(0, first));
		}
		others.forEach((entry) -> result.add(entry.getValue()));
		return result;
	}

	/**
	 * Removes what dead processes left behind, and logs what is wrong with the
	 * directories. Never throws.
	 * @return how many directories of dead processes were removed
	 */
	int reclaim() {
		return this.all.stream().mapToInt(SpillDirectory::reclaim).sum();
	}

	/**
	 * Removes what is left of this process. Idempotent.
	 */
	void close() {
		this.all.forEach(SpillDirectory::close);
	}

	/**
	 * Creates something in a directory.
	 */
	@FunctionalInterface
	interface Creation<T> {

		/**
		 * Creates it.
		 * @throws IOException if another directory may be better
		 */
		T in(SpillDirectory directory) throws IOException;

	}

}
