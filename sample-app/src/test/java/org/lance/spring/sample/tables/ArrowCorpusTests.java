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

package org.lance.spring.sample.tables;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.sample.testing.AbstractSampleTests;
import org.lance.spring.sample.testing.SampleClient;
import org.lance.spring.sample.testing.SampleClient.Answer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Uploads the inputs of Arrow's own tests: what other Arrow libraries wrote, and what a
 * fuzzer broke.
 */
class ArrowCorpusTests extends AbstractSampleTests {

	private static final Path CORPUS = Path.of("../lance-spring-autoconfigure/src/test/resources/arrow-testing");

	@ParameterizedTest
	@MethodSource
	void goldenDataAreStoredOrRefusedForTheirTypes(Path input) throws Exception {
		String table = tableOf(input);
		Answer answer = upload(table, input);
		if (answer.status() == 201) {
			assertThat(this.client.get("/api/tables/" + table).json().get("rows").asLong())
				.isEqualTo(answer.json().get("rows").asLong());
			Answer rows = this.client.get("/api/tables/" + table + "/rows");
			assertThat(rows.status()).as(rows.toString()).isEqualTo(200);
			assertThat(rows.json().size()).isEqualTo(answer.json().get("rows").asInt());
		}
		else {
			assertThat(answer.status()).as(answer.toString()).isEqualTo(422);
			assertRefused(table, answer);
		}
	}

	static Stream<Path> goldenDataAreStoredOrRefusedForTheirTypes() throws IOException {
		return inputs("1.0.0-littleendian").filter((input) -> !input.toString().endsWith(".gz"));
	}

	@ParameterizedTest
	@MethodSource
	void malformedDataAreRefused(Path input) throws Exception {
		String table = tableOf(input);
		Answer answer = upload(table, input);
		if (answer.status() == 201) {
			assertThat(this.client.get("/api/tables/" + table).json().get("rows").asLong())
				.isEqualTo(answer.json().get("rows").asLong());
		}
		else {
			assertThat(answer.status()).as(answer.toString()).isBetween(400, 499);
			assertRefused(table, answer);
		}
	}

	static Stream<Path> malformedDataAreRefused() throws IOException {
		return Stream.concat(inputs("fuzz-stream"), inputs("fuzz-file"));
	}

	private void assertRefused(String table, Answer answer) throws Exception {
		assertThat(answer.contentType()).isEqualTo("application/problem+json");
		assertThat(answer.json().get("detail").asString()).isNotBlank();
		assertThat(this.client.get("/api/tables/" + table).status()).isEqualTo(404);
		assertThat(dataDirectory().resolve(table + ".lance")).doesNotExist();
	}

	private Answer upload(String table, Path input) throws Exception {
		boolean file = input.toString().contains("file");
		return this.client.upload(table, file ? SampleClient.FILE : SampleClient.STREAM, Files.readAllBytes(input));
	}

	private static String tableOf(Path input) {
		String name = input.getFileName().toString().replaceAll("[^A-Za-z0-9_-]", "_");
		return name.substring(Math.max(0, name.length() - 64));
	}

	private static Stream<Path> inputs(String folder) throws IOException {
		try (Stream<Path> files = Files.list(CORPUS.resolve(folder))) {
			return files.sorted().toList().stream();
		}
	}

}
