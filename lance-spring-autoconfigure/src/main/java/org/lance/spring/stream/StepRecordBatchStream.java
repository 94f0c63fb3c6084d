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

import java.util.Map;

import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * A stream of record batches around its step.
 */
final class StepRecordBatchStream extends StepIterator<RecordBatch> implements RecordBatchStream {

	private final Schema schema;

	private final Map<Long, Field> dictionaryFields;

	StepRecordBatchStream(Schema schema, Map<Long, Field> dictionaryFields, AsyncStep<RecordBatch> step) {
		super(step);
		this.schema = schema;
		this.dictionaryFields = Map.copyOf(dictionaryFields);
	}

	@Override
	public Schema schema() {
		return this.schema;
	}

	@Override
	public Map<Long, Field> dictionaryFields() {
		return this.dictionaryFields;
	}

	@Override
	public RecordBatchStream fuse() {
		super.fuse();
		return this;
	}

}
