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

package org.lance.spring.source;

import java.util.Iterator;

import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.Schemas;
import org.lance.spring.stream.SizeHint;

/**
 * Takes the batches that a producer gives away, if they have the schema it promised.
 */
final class CheckedBatches implements Iterator<RecordBatch>, AutoCloseable, SizeHint.Provider {

	private final Schema schema;

	private final Iterator<RecordBatch> batches;

	CheckedBatches(Schema schema, Iterator<RecordBatch> batches) {
		this.schema = schema;
		this.batches = batches;
	}

	@Override
	public boolean hasNext() {
		return this.batches.hasNext();
	}

	@Override
	public RecordBatch next() {
		RecordBatch batch = this.batches.next();
		try {
			Schemas.checkCompatible(this.schema, batch.schema());
			return batch;
		}
		catch (Throwable ex) {
			batch.close();
			throw ex;
		}
	}

	@Override
	public SizeHint sizeHint() {
		return (this.batches instanceof SizeHint.Provider provider) ? provider.sizeHint() : SizeHint.UNKNOWN;
	}

	@Override
	public void close() throws Exception {
		if (this.batches instanceof AutoCloseable closeable) {
			closeable.close();
		}
	}

}
