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

package org.lance.spring.autoconfigure;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.lance.spring.spill.ReadMode;
import org.lance.spring.spill.SpillCodec;
import org.lance.spring.spill.SpillCompression;
import org.lance.spring.spill.SpillMode;
import org.lance.spring.spill.UnusableDirectory;
import org.lance.spring.spill.Verification;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.unit.DataSize;

/**
 * Configuration properties of the starter. Values that can't work are refused as soon as
 * all are bound, so that the start ends with a sentence that names the key.
 * <p>
 * The descriptions of the parameters become those of the metadata, and are written as
 * Spring Boot writes these.
 *
 * @param memory the memory of Arrow
 * @param background the background executor
 * @param source the write sources
 * @param spill the replay spills
 */
@ConfigurationProperties("lance")
record LanceProperties(@DefaultValue Memory memory, @DefaultValue Background background, @DefaultValue Source source,
		@DefaultValue Spill spill) implements InitializingBean {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Duration DAY = Duration.ofDays(1);

	@Override
	public void afterPropertiesSet() {
		check("lance.memory.limit", this.memory.limit, this.memory.limit.toBytes() > 0, "It must be more than 0.");
		check("lance.background.threads", this.background.threads, this.background.threads > 0,
				"It must be 1 or more.");
		check("lance.background.queue-capacity", this.background.queueCapacity, this.background.queueCapacity >= 0,
				"It must be 0 or more.");
		check("lance.background.keep-alive", this.background.keepAlive,
				isBetween(SECOND, this.background.keepAlive, DAY), "It must be between one second and one day.");
		check("lance.background.await-termination", this.background.awaitTermination,
				isBetween(Duration.ZERO, this.background.awaitTermination, DAY), "It must be between 0 and one day.");
		check("lance.source.read-ahead", this.source.readAhead, this.source.readAhead >= 0, "It must be 0 or more.");
		check("lance.spill.directories", this.spill.directories,
				this.spill.directories.stream().noneMatch((directory) -> directory.toString().isEmpty()),
				"Each directory must have a name.");
		check("lance.spill.memory-limit", this.spill.memoryLimit, !this.spill.memoryLimit.isNegative(),
				"It must be 0 or more.");
		check("lance.spill.total-memory-limit", this.spill.totalMemoryLimit, !this.spill.totalMemoryLimit.isNegative(),
				"It must be 0 or more.");
		DataSize diskLimit = this.spill.diskLimit;
		check("lance.spill.disk-limit", diskLimit, diskLimit == null || diskLimit.toBytes() > 0,
				"It must be more than 0.");
		check("lance.spill.min-free-space", this.spill.minFreeSpace, !this.spill.minFreeSpace.isNegative(),
				"It must be 0 or more.");
		check("lance.spill.min-free-percent", this.spill.minFreePercent,
				this.spill.minFreePercent >= 0 && this.spill.minFreePercent <= 99, "It must be between 0 and 99.");
		check("lance.spill.directory-retry", this.spill.directoryRetry,
				isBetween(Duration.ZERO, this.spill.directoryRetry, DAY), "It must be between 0 and one day.");
		int level = this.spill.compression.level;
		check("lance.spill.compression.level", level,
				level >= SpillCompression.MIN_LEVEL && level <= SpillCompression.MAX_LEVEL,
				"It must be between %d and %d.".formatted(SpillCompression.MIN_LEVEL, SpillCompression.MAX_LEVEL));
		check("lance.spill.threads", this.spill.threads, this.spill.threads > 0, "It must be 1 or more.");
	}

	private static boolean isBetween(Duration least, Duration value, Duration most) {
		return value.compareTo(least) >= 0 && value.compareTo(most) <= 0;
	}

	private static void check(String key, @Nullable Object value, boolean right, String reason) {
		if (!right) {
			throw new InvalidConfigurationPropertyValueException(key, value, reason);
		}
	}

	/**
	 * Properties of Arrow's memory.
	 *
	 * @param limit Maximum amount of off-heap memory that all record batches together may
	 * use.
	 */
	record Memory(@DefaultValue("4GB") DataSize limit) {

	}

	/**
	 * Properties of the background executor.
	 *
	 * @param threads Number of threads that pull blocking sources.
	 * @param queueCapacity Number of streams that may be open beyond one for each thread,
	 * after which further ones are refused.
	 * @param keepAlive Time after which an idle thread of the background executor or the
	 * spill executor ends.
	 * @param awaitTermination Time that open streams and spills have at shutdown before
	 * they are failed.
	 */
	record Background(@DefaultValue("8") int threads, @DefaultValue("100") int queueCapacity,
			@DefaultValue("60s") Duration keepAlive, @DefaultValue("20s") Duration awaitTermination) {

	}

	/**
	 * Properties of write sources.
	 *
	 * @param readAhead Number of batches that a source reads before they are asked for.
	 */
	record Source(@DefaultValue("1") int readAhead) {

	}

	/**
	 * Properties of replay spills.
	 *
	 * @param directories Comma-separated list of directories in which private
	 * sub-directories for spill files are made. Defaults to a directory for temporary
	 * files of this application.
	 * @param memoryLimit Maximum amount of memory that one spill may hold before it goes
	 * to disk.
	 * @param totalMemoryLimit Maximum amount of memory that all spills together may hold
	 * before they go to disk.
	 * @param diskLimit Maximum amount of disk space that all spill files together may
	 * take. Defaults to no limit.
	 * @param creationTraces Whether a spill or reader that was forgotten is logged with
	 * the place where it was created, at the cost of a stack trace for each.
	 * @param mode What a spill does when its batches do not fit into memory any more.
	 * @param onUnusableDirectory What a spill does that has to go to disk when no
	 * directory is usable.
	 * @param minFreeSpace Amount of disk space that must stay free while spill files are
	 * written.
	 * @param minFreePercent Part of the disk, in percent, that must stay free while spill
	 * files are written. The larger of both applies.
	 * @param directoryRetry Time for which a directory that failed is left alone as long
	 * as another one works.
	 * @param threads Number of threads that read and write spill files.
	 * @param verification When the checksum of a batch read from disk is verified.
	 * @param readMode How batches are read from disk.
	 * @param compression the compression of files
	 * @param encryption the encryption of files
	 */
	record Spill(@DefaultValue List<Path> directories, @DefaultValue("100MB") DataSize memoryLimit,
			@DefaultValue("1GB") DataSize totalMemoryLimit, @Nullable DataSize diskLimit,
			@DefaultValue("false") boolean creationTraces, @DefaultValue("spill") SpillMode mode,
			@DefaultValue("fail") UnusableDirectory onUnusableDirectory, @DefaultValue("100MB") DataSize minFreeSpace,
			@DefaultValue("1") int minFreePercent, @DefaultValue("1m") Duration directoryRetry,
			@DefaultValue("4") int threads, @DefaultValue("always") Verification verification,
			@DefaultValue("map") ReadMode readMode, @DefaultValue Compression compression,
			@DefaultValue Encryption encryption) {

	}

	/**
	 * Properties of the compression of spill files.
	 *
	 * @param codec How batches are compressed that are written to disk.
	 * @param level Level of the compression, from -131072 for the fastest to 22 for the
	 * smallest files.
	 */
	record Compression(@DefaultValue("none") SpillCodec codec, @DefaultValue("1") int level) {

	}

	/**
	 * Properties of the encryption of spill files.
	 *
	 * @param enabled Whether spill files are encrypted, by keys that are never written.
	 */
	record Encryption(@DefaultValue("false") boolean enabled) {

	}

}
