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

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.source.ReopenableSource;
import org.lance.spring.source.StreamingWriteSource;

/**
 * A spill as a source that can be opened again.
 *
 * @param spill the spill, owned
 */
record SpilledSource(SpillReceiver spill) implements ReopenableSource {

	@Override
	public Schema arrowSchema() {
		return this.spill.schema();
	}

	@Override
	public CompletionStage<StreamingWriteSource> open() {
		return CompletableFuture.completedFuture(this.spill.source());
	}

	@Override
	public void close() {
		this.spill.close();
	}

}
