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

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains an {@link ArrowMemoryUnavailableException} and what to do about it.
 */
class ArrowMemoryUnavailableFailureAnalyzer extends AbstractFailureAnalyzer<ArrowMemoryUnavailableException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, ArrowMemoryUnavailableException cause) {
		return switch (cause.getReason()) {
			case PACKAGE_NOT_OPEN -> new FailureAnalysis("""
					Arrow keeps record batches in off-heap memory and reaches it through the package 'java.nio' \
					of the JDK, which this JVM does not open to it.""", """
					Open the package, in one of these ways:

					1. On the command line of the JVM, before '-jar' or the main class: \
					--add-opens=java.base/java.nio=ALL-UNNAMED
					2. For whoever starts an executable jar, in its manifest: \
					Add-Opens: java.base/java.nio
					3. By the environment, where the command line is out of reach: \
					JDK_JAVA_OPTIONS=--add-opens=java.base/java.nio=ALL-UNNAMED
					4. For tests, in the 'argLine' of Maven Surefire or the 'jvmArgs' of Gradle's test task.""", cause);
			case NO_ALLOCATION_MANAGER -> new FailureAnalysis("""
					Arrow is on the class path without any of its modules that allocate memory.""", """
					Add the dependency 'org.apache.arrow:arrow-memory-unsafe'. \
					The starter 'lance-spring-boot-starter' brings it: look whether it was excluded.""", cause);
			case FAILED_START -> new FailureAnalysis(cause.getMessage() + ".", """
					Look at what Arrow allocates memory with:

					1. Use 'org.apache.arrow:arrow-memory-unsafe', and exclude \
					'org.apache.arrow:arrow-memory-netty', which does not start on JDK 24 and newer.
					2. Let all modules of Arrow have the same version.
					3. On JDK 24 and newer, do not deny it memory: leave out \
					--sun-misc-unsafe-memory-access=deny.""", cause);
		};
	}

}
