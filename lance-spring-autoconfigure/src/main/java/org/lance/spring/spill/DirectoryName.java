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

import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The name of the private directory of a manager, and that of the lock file beside it.
 * Contains a token of the JVM, because a JVM must leave its own lock files alone: opening
 * and closing one would end the lock. A process id is no such token, in containers it is
 * always the same.
 *
 * @param jvm the token of the JVM
 * @param own the token of the directory
 */
record DirectoryName(String jvm, String own) {

	/**
	 * A system property and no constant, as several class loaders of one JVM may have
	 * loaded this class.
	 */
	private static final String PROPERTY = "org.lance.spring.spill.jvm";

	private static final String PREFIX = "lance-spill-";

	private static final String LOCK_SUFFIX = ".lock";

	private static final Pattern PATTERN = Pattern.compile(PREFIX + "([0-9a-f]{16})-([0-9a-f]{16})");

	private static final SecureRandom random = new SecureRandom();

	/**
	 * Returns a name that was never used.
	 */
	static DirectoryName next() {
		return new DirectoryName(thisJvm(), token());
	}

	/**
	 * Returns the name that a path has.
	 * @return the name, or {@code null} if the path is none of a private directory
	 */
	static @Nullable DirectoryName of(Path path) {
		Matcher matcher = PATTERN.matcher(path.getFileName().toString());
		return matcher.matches() ? new DirectoryName(matcher.group(1), matcher.group(2)) : null;
	}

	/**
	 * Returns the name that belongs to a lock file.
	 * @return the name, or {@code null} if the path is none of a lock file
	 */
	static @Nullable DirectoryName ofLock(Path path) {
		String name = path.getFileName().toString();
		return name.endsWith(LOCK_SUFFIX) ? of(Path.of(name.substring(0, name.length() - LOCK_SUFFIX.length()))) : null;
	}

	private static String thisJvm() {
		return (String) System.getProperties().computeIfAbsent(PROPERTY, (key) -> token());
	}

	private static String token() {
		byte[] bytes = new byte[Long.BYTES];
		random.nextBytes(bytes);
		return HexFormat.of().formatHex(bytes);
	}

	boolean isOfThisJvm() {
		return this.jvm.equals(thisJvm());
	}

	Path directory(Path base) {
		return base.resolve(PREFIX + this.jvm + "-" + this.own);
	}

	Path lockFile(Path base) {
		return base.resolve(PREFIX + this.jvm + "-" + this.own + LOCK_SUFFIX);
	}

}
