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

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.lance.spring.stream.AsyncStep;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a source of an existing stream.
 */
class StreamSourceTests {

	@Test
	void aSourceOfAStreamGivesThatVeryStream() {
		Schema schema = new Schema(List.of(Field.nullable("id", new ArrowType.Int(64, true))));
		RecordBatchStream stream = RecordBatchStream.from(schema, Map.of(), new NoBatches());
		StreamingWriteSource source = StreamingWriteSource.of(stream);
		assertThat(source.arrowSchema()).isEqualTo(schema);
		assertThat(source.intoStream()).isSameAs(stream);
		stream.close();
	}

	private static final class NoBatches implements AsyncStep<RecordBatch> {

		@Override
		public CompletionStage<Optional<RecordBatch>> advance() {
			return CompletableFuture.completedFuture(Optional.empty());
		}

		@Override
		public CompletionStage<Void> release() {
			return CompletableFuture.completedFuture(null);
		}

	}

}
