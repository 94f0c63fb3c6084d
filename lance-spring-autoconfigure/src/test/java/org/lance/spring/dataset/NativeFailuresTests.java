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

import java.io.IOException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.stream.InvalidRecordBatchException;
import org.lance.spring.stream.SchemaMismatchException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of {@link NativeFailures}: the texts are those of lance-core 7.0.0.
 */
class NativeFailuresTests {

	private static final String LOCATION = ", /workspace/rust/lance/src/dataset/write/insert.rs:286:28";

	@Test
	void whenDatasetExistsThenThatIsTold() {
		Throwable failure = new IllegalArgumentException("Dataset already exists: /tmp/x" + LOCATION);
		assertThat(NativeFailures.ofWrite("x", failure)).isInstanceOf(LanceDatasetExistsException.class)
			.hasMessageContainingAll("'x'", "mode APPEND or OVERWRITE")
			.hasCause(failure);
	}

	@Test
	void whenDatasetIsMissingThenThatIsTold() {
		Throwable failure = new IllegalArgumentException(
				"Dataset at path tmp/nope was not found: Not found: tmp/nope/_versions, "
						+ "/workspace/rust/lance-table/src/io/commit.rs:646:26, "
						+ "/workspace/rust/lance/src/dataset/builder.rs:787:29");
		assertThat(NativeFailures.ofWrite("x", failure)).isInstanceOf(LanceDatasetNotFoundException.class);
		assertThat(NativeFailures.ofRead("x", failure)).isInstanceOf(LanceDatasetNotFoundException.class)
			.hasMessageContainingAll("'x'", "mode CREATE or OVERWRITE");
	}

	@ParameterizedTest
	@ValueSource(strings = {
			"Retryable commit conflict for version 7: This Overwrite transaction was preempted by concurrent transaction "
					+ "Overwrite at version 7. Please retry.",
			"Too many concurrent writers. Attempted 0 retries.",
			"LanceError(IO): Too many concurrent writers. Attempted 3 times, but failed on retry_timeout of 30.000 "
					+ "seconds." })
	void whenOtherWriterWasFasterThenConflictIsRetryable(String text) {
		assertThat(NativeFailures.ofWrite("x", new RuntimeException(text + LOCATION)))
			.isInstanceOfSatisfying(LanceConflictException.class, (ex) -> {
				assertThat(ex.isRetryable()).isTrue();
				assertThat(ex.getUri()).isEqualTo("x");
				assertThat(ex).hasMessageNotContaining("/rust/");
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "Incompatible transaction: Append is not compatible with Overwrite at version 3",
			"Commit conflict for version 3: There was a concurrent commit that conflicts with this one" })
	void whenOtherWriterChangedTheTableThenConflictIsNotRetryable(String text) {
		assertThat(NativeFailures.ofWrite("x", new RuntimeException(text)))
			.isInstanceOfSatisfying(LanceConflictException.class, (ex) -> assertThat(ex.isRetryable()).isFalse());
	}

	@Test
	void whenSchemaDiffersThenThatIsADataFailure() {
		assertThat(NativeFailures
			.ofWrite("x", new RuntimeException("Append with different schema: `x` should have type "
					+ "int32 but type was int64, location: /workspace/rust/lance-core/src/datatypes/schema.rs:186:17")))
			.isInstanceOf(SchemaMismatchException.class)
			.hasMessageEndingWith("but type was int64");
	}

	@Test
	void whenNullIsFoundByLanceThenThatIsADataFailure() {
		assertThat(NativeFailures.ofWrite("x",
				new RuntimeException(
						"LanceError(Arrow): Invalid argument error: Column 'x' is declared as non-nullable "
								+ "but contains null values" + LOCATION)))
			.isInstanceOf(InvalidRecordBatchException.class);
	}

	@Test
	void whenTextIsUnknownThenFailureIsOfTheOperation() {
		IOException failure = new IOException("LanceError(IO): no space left" + LOCATION);
		assertThat(NativeFailures.ofWrite("x", failure)).isInstanceOf(LanceWriteException.class)
			.hasCause(failure)
			.hasMessageEndingWith("no space left");
		assertThat(NativeFailures.ofRead("x", failure)).isInstanceOf(LanceReadException.class).hasCause(failure);
		assertThat(NativeFailures.ofRead("x", new RuntimeException())).isInstanceOf(LanceReadException.class);
	}

	@Test
	void whenFailureIsTranslatedThenItStaysAsItIs() {
		LanceException translated = new LanceReadException("m", "y", null);
		assertThat(NativeFailures.ofWrite("x", translated)).isSameAs(translated);
		assertThat(NativeFailures.ofRead("x", translated)).isSameAs(translated);
	}

	@Test
	void whenLibraryDoesNotLinkThenThatIsTold() {
		assertThat(NativeFailures.ofWrite("x", new UnsatisfiedLinkError("no")))
			.isInstanceOf(LanceUnavailableException.class);
		assertThat(NativeFailures.ofRead("x", new NoClassDefFoundError("org/apache/arrow/dataset/scanner/Scanner")))
			.isInstanceOf(LanceUnavailableException.class)
			.hasMessageContaining("arrow-dataset");
	}

}
