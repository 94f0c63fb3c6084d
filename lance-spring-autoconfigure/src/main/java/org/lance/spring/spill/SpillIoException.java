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

import org.jspecify.annotations.Nullable;

/**
 * The spill could not be written or read for a reason that has no type of its own; see
 * the cause. Either the file system refused something, or the allocator refused the
 * memory to read a batch into, or to compact, compress or encrypt it.
 *
 * @since 0.1.0
 */
public final class SpillIoException extends SpillException {

	SpillIoException(String spillName, String message, @Nullable Throwable cause) {
		super(spillName, message, cause);
	}

	@Override
	SpillException again(String message) {
		return new SpillIoException(getSpillName(), message, getCause());
	}

}
