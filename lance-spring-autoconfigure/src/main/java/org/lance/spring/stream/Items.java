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

package org.lance.spring.stream;

import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives back items that nobody takes.
 */
final class Items {

	private static final Logger logger = LoggerFactory.getLogger(Items.class);

	private Items() {
	}

	static void discard(@Nullable Object item) {
		Object value = (item instanceof Optional<?> optional) ? optional.orElse(null) : item;
		if (value instanceof AutoCloseable closeable) {
			try {
				closeable.close();
			}
			catch (Throwable ex) {
				// Errors too: whoever gives items back has a promise to keep, the failure
				// of
				// one item must not break it.
				logger.warn("An item that nobody took could not be closed: {}", value, ex);
			}
		}
	}

}
