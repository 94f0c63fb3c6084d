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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A step whose items are ready at once: 0, 1, 2 and so on.
 */
class ReadyStep implements AsyncStep<Integer> {

	private final int size;

	private int given;

	int released;

	ReadyStep(int size) {
		this.size = size;
	}

	@Override
	public CompletionStage<Optional<Integer>> advance() {
		return CompletableFuture
			.completedFuture((this.given < this.size) ? Optional.of(this.given++) : Optional.empty());
	}

	@Override
	public CompletionStage<Void> release() {
		this.released++;
		return CompletableFuture.completedFuture(null);
	}

}
