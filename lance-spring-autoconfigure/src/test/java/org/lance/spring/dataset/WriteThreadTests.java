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

package org.lance.spring.dataset;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.arrow.vector.TinyIntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lance.spring.stream.RecordBatch;
import org.lance.spring.stream.RecordBatchStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of {@link LanceTemplate}: what becomes of writes for which no thread can be
 * started.
 */
class WriteThreadTests extends AbstractLanceTests {

	private static final DictionaryEncoding ENCODING = new DictionaryEncoding(1, false, new ArrowType.Int(8, true));

	private static final Schema DICTIONARY = new Schema(
			List.of(new Field("word", new FieldType(true, new ArrowType.Int(8, true), ENCODING), List.of())));

	private final OutOfMemoryError noThread = new OutOfMemoryError("unable to create native thread");

	@ParameterizedTest
	@EnumSource(LanceWriteMode.class)
	void whenNoThreadCanBeStartedThenTheWriteFailsAndTheNextOneWorks(LanceWriteMode mode) throws Exception {
		LanceTemplate scarce = template(1, 1);
		TestSource source = source(1, 5);
		assertFailed(scarce, source, mode);
		assertThat(await(scarce.write(this.uri, source(1, 5), LanceWriteMode.CREATE)).rows()).isEqualTo(5);
		scarce.close();
		await(scarce.closed());
	}

	@Test
	void whenNoThreadCanBeStartedThenNoPermitIsLost() throws Exception {
		LanceTemplate scarce = template(1, 200);
		for (int i = 0; i < 200; i++) {
			assertFailed(scarce, source(1, 1), LanceWriteMode.OVERWRITE);
		}
		await(scarce.drain(java.time.Duration.ofMinutes(1)));
	}

	@Test
	void whenNoThreadCanBeStartedForTheSecondPartThenTheWriteFailsAndTheFirstBatchIsGivenBack() throws Exception {
		LanceTemplate scarce = template(2, 1);
		TestSource source = source(DICTIONARY, 1, (i) -> words());
		assertFailed(scarce, source, LanceWriteMode.CREATE);
		assertThat(await(scarce.exists(this.uri))).isFalse();
		assertThat(await(scarce.write(this.uri, source(DICTIONARY, 1, (i) -> words()), LanceWriteMode.CREATE)).rows())
			.isEqualTo(2);
	}

	@Test
	void whenASchemaCannotBeLookedAtThenItsSourceIsClosed() throws Exception {
		NoClassDefFoundError failure = new NoClassDefFoundError("missing");
		TestSource source = new TestSource(null, Map.of(), () -> RecordBatchStream.from(SCHEMA, Map.of(), null)) {
			@Override
			public Schema arrowSchema() {
				throw failure;
			}
		};
		assertThat(failure(this.template.write(this.uri, source, LanceWriteMode.CREATE))).isSameAs(failure);
		assertThat(source.isClosed()).isTrue();
	}

	private void assertFailed(LanceTemplate scarce, TestSource source, LanceWriteMode mode) throws Exception {
		assertThat(failure(scarce.write(this.uri, source, mode))).isInstanceOf(LanceWriteException.class)
			.hasMessageContainingAll(this.uri, "no thread could be started")
			.hasCause(this.noThread);
		assertThat(source.isClosed()).isTrue();
		assertThat(scarce.openWrites()).isZero();
	}

	/**
	 * A template whose threads do not all start: of two threads, the first does.
	 */
	private LanceTemplate template(int threads, int failures) {
		AtomicInteger number = new AtomicInteger(1 - threads);
		// Not in start(): newer JDKs start threads of a pool past it.
		ThreadFactory factory = (task) -> {
			int next = number.incrementAndGet();
			if (next > 0 && next <= failures) {
				throw this.noThread;
			}
			return new Thread(task);
		};
		return this.engine
			.closeLater(new LanceTemplate(this.engine.allocator(), this.background, new WritePool(threads, factory)));
	}

	private RecordBatch words() {
		try (VarCharVector values = new VarCharVector("values", this.engine.allocator());
				VectorSchemaRoot root = VectorSchemaRoot.create(DICTIONARY, this.engine.allocator())) {
			values.setSafe(0, "one".getBytes());
			values.setValueCount(1);
			TinyIntVector words = (TinyIntVector) root.getVector("word");
			words.setSafe(0, 0);
			words.setNull(1);
			root.setRowCount(2);
			return RecordBatch.copyOf(root,
					new DictionaryProvider.MapDictionaryProvider(new Dictionary(values, ENCODING)),
					this.engine.allocator());
		}
	}

}
