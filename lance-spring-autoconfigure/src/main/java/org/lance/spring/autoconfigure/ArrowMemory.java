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

import java.nio.Buffer;

import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.lance.spring.autoconfigure.ArrowMemoryUnavailableException.Reason;

import org.springframework.util.ClassUtils;

/**
 * Opens Arrow's memory, after looking at what Arrow needs. Its own complaints come as
 * errors of static initializers, and some only at the first batch.
 */
final class ArrowMemory {

	/**
	 * Where Arrow looks for its allocation manager, in its order.
	 */
	private static final String[] MANAGERS = { "org.apache.arrow.memory.DefaultAllocationManagerFactory",
			"org.apache.arrow.memory.unsafe.DefaultAllocationManagerFactory",
			"org.apache.arrow.memory.netty.DefaultAllocationManagerFactory" };

	private ArrowMemory() {
	}

	/**
	 * Opens a root allocator that rounds exactly: by default Arrow takes the next power
	 * of two, and a limit would be used up twice as fast as its owner thinks.
	 */
	static RootAllocator open(long limit, ClassLoader classLoader) {
		checkAccess(BufferAllocator.class.getModule());
		checkManager(classLoader);
		try {
			return new RootAllocator(AllocationListener.NOOP, limit, (size) -> size);
		}
		catch (LinkageError | RuntimeException ex) {
			throw new ArrowMemoryUnavailableException(Reason.FAILED_START,
					"Arrow's memory failed to start: " + rootCause(ex), ex);
		}
	}

	/**
	 * Arrow reads the private address of direct buffers and calls their private
	 * constructor; only an open package lets it.
	 */
	static void checkAccess(Module arrow) {
		Class<?> buffer = Buffer.class;
		if (!buffer.getModule().isOpen(buffer.getPackageName(), arrow)) {
			throw new ArrowMemoryUnavailableException(Reason.PACKAGE_NOT_OPEN,
					"The package 'java.nio' is not open to Arrow: start the JVM with "
							+ "'--add-opens=java.base/java.nio=%s'"
								.formatted(arrow.isNamed() ? arrow.getName() : "ALL-UNNAMED"),
					null);
		}
	}

	private static void checkManager(ClassLoader classLoader) {
		for (String manager : MANAGERS) {
			if (ClassUtils.isPresent(manager, classLoader)) {
				return;
			}
		}
		throw new ArrowMemoryUnavailableException(Reason.NO_ALLOCATION_MANAGER,
				"No allocation manager of Arrow is on the class path: add 'org.apache.arrow:arrow-memory-unsafe'",
				null);
	}

	private static Throwable rootCause(Throwable ex) {
		Throwable cause = ex;
		while (cause.getCause() != null) {
			cause = cause.getCause();
		}
		return cause;
	}

}
