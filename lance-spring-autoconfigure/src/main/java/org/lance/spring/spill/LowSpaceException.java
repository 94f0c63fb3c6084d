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

/**
 * The disk has room, but less than is to stay free.
 */
@SuppressWarnings("serial")
final class LowSpaceException extends IOException {

	LowSpaceException(long free, long floor) {
		super("%d bytes are free, and %d must stay free as lance.spill.min-free-space and lance.spill.min-free-percent say"
			.formatted(free, floor));
	}

}
