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

import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

import com.sun.management.OperatingSystemMXBean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How files are mapped.
 *
 * @param size the bytes from which on a window is complete
 * @param kept what windows of all files may have that stay mapped in addition to the few
 * that each file keeps anyway
 */
record WindowPolicy(long size, ByteBudget kept) {

	private static final Logger logger = LoggerFactory.getLogger(WindowPolicy.class);

	private static final long SIZE = 64L << 20;

	/**
	 * The part of the memory whose pages may stay mapped. They are not in anyone's way,
	 * as the system takes pages of files back when it needs them, but they count as
	 * memory of the process.
	 */
	private static final int PART = 16;

	/**
	 * The usual policy. There is one budget for all managers, as it is the process whose
	 * memory the pages count as. Looking for it loads classes of the JVM, so it is not to
	 * be done before a file is created.
	 */
	static final WindowPolicy DEFAULT = new WindowPolicy(SIZE, budget(WindowPolicy::memory));

	/**
	 * Makes a budget.
	 * @param memory tells how much memory the machine or container has
	 */
	static ByteBudget budget(LongSupplier memory) {
		try {
			return new ByteBudget(memory.getAsLong() / PART);
		}
		catch (RuntimeException | LinkageError ex) {
			// A JVM may lack the module, and some fail where they look into control
			// groups. All spills work without.
			logger.debug("This JVM does not tell how much memory there is", ex);
			return ByteBudget.NONE;
		}
	}

	private static long memory() {
		return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
	}

}
