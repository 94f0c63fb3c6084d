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
 * A batch does not fit into what its spill, or all spills together, may hold in memory,
 * and the spill may not go to disk.
 *
 * @since 0.1.0
 * @see SpillMode#FAIL
 */
public final class SpillRejectedException extends SpillException {

	SpillRejectedException(String spillName, String message, @Nullable Throwable cause) {
		super(spillName, message, cause);
	}

	@Override
	SpillException again(String message) {
		return new SpillRejectedException(getSpillName(), message, getCause());
	}

}
