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

package org.lance.spring.dataset;

import java.util.Locale;

import org.jspecify.annotations.Nullable;
import org.lance.JniLoader;

/**
 * Loads the native library, which lance-core unpacks to the temp directory of the JVM,
 * and explains why it does not load.
 */
final class LanceLibrary {

	private static volatile @Nullable Throwable failure;

	private LanceLibrary() {
	}

	/**
	 * Loads the library unless it is loaded. The first call takes about a second.
	 * @throws LanceUnavailableException if it does not load; every time, with the first
	 * failure as cause, because the JVM itself tells the reason only once
	 */
	static void load() {
		Throwable before = failure;
		if (before != null) {
			throw unavailable(before);
		}
		try {
			JniLoader.ensureLoaded();
		}
		catch (Throwable ex) {
			Throwable reason = (ex instanceof ExceptionInInitializerError && ex.getCause() != null) ? ex.getCause()
					: ex;
			failure = reason;
			throw unavailable(reason);
		}
	}

	static LanceUnavailableException unavailable(Throwable reason) {
		return new LanceUnavailableException(explain(System.getProperty("os.name", ""),
				System.getProperty("os.arch", ""), System.getProperty("java.io.tmpdir", ""), reason), null, reason);
	}

	static String explain(String os, String arch, String tempDirectory, Throwable reason) {
		String message = "Lance's native library can't be used: " + reason + ". ";
		if (reason instanceof NoClassDefFoundError) {
			return message + "A library is missing from the class path: lance-core needs all of its Arrow dependencies "
					+ "but the Netty allocator, also arrow-c-data and arrow-dataset";
		}
		String system = os.toLowerCase(Locale.ROOT);
		boolean arm = arch.equals("aarch64") || arch.equals("arm64");
		boolean intel = arch.equals("amd64") || arch.equals("x86_64");
		boolean supported = (system.contains("linux") && (intel || arm)) || (system.contains("mac") && arm);
		if (!supported) {
			return message
					+ ("It exists for Linux (x86-64 and aarch64) and macOS (arm64), and this is %s (%s). Run the "
							+ "application there, or leave lance-core off the class path")
						.formatted(os, arch);
		}
		return message
				+ ("It is unpacked to the temp directory '%s' (181 MB) and loaded from there, so the directory must "
						+ "be writable, have room, and not be mounted 'noexec': set -Djava.io.tmpdir to one that is. It also "
						+ "needs glibc 2.28 or newer; Alpine Linux has none")
					.formatted(tempDirectory);
	}

}
