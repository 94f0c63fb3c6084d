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

import java.nio.file.Files;
import java.util.Arrays;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.lance.spring.dataset.LanceClosedException;
import org.lance.spring.sample.testing.AbstractSampleTests;
import org.lance.spring.sample.testing.ArrowBytes;
import org.lance.spring.sample.testing.SampleClient;
import org.lance.spring.sample.testing.SampleClient.Answer;

import org.springframework.http.HttpMethod;
import org.springframework.http.ProblemDetail;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for requests that can't be answered: each gets a problem detail and stores
 * nothing.
 */
class BadRequestTests extends AbstractSampleTests {

	@ParameterizedTest(name = "{0}")
	@MethodSource
	void whenDataAreBadThenTheAnswerSaysWhy(String what, int status, String word, Supplier<byte[]> body)
			throws Exception {
		Answer answer = this.client.upload("bad", SampleClient.STREAM, body.get());
		assertProblem(answer, status, word);
		assertProblem(this.client.get("/api/tables/bad"), 404, "bad");
		assertThat(dataDirectory().resolve("bad.lance")).doesNotExist();
	}

	static Stream<Arguments> whenDataAreBadThenTheAnswerSaysWhy() {
		byte[] good = ArrowBytes.people(0, 3, 1000);
		byte[] file = ArrowBytes.peopleFile(0, 3, 1000);
		return Stream.of(bad("empty body", 400, "", () -> new byte[0]),
				bad("no Arrow", 400, "", () -> "{\"rows\": []}".getBytes()),
				bad("cut in the first bytes", 400, "truncated", () -> Arrays.copyOf(good, 3)),
				bad("cut in the schema", 400, "truncated", () -> Arrays.copyOf(good, 50)),
				bad("cut in a body", 400, "truncated", () -> Arrays.copyOf(good, good.length / 2)),
				bad("without its end", 400, "truncated", () -> Arrays.copyOf(good, good.length - 8)),
				bad("a file without its footer", 400, "truncated", () -> Arrays.copyOf(file, file.length - 10)),
				bad("big-endian", 422, "big-endian", ArrowBytes::bigEndian),
				bad("offsets outside of their values", 422, "name", ArrowBytes::badOffsets),
				bad("a child that is too short", 422, "pair", ArrowBytes::shortChild),
				bad("a column that is too short", 422, "number", ArrowBytes::shortColumn));
	}

	private static Arguments bad(String what, int status, String word, Supplier<byte[]> body) {
		return Arguments.of(what, status, word, body);
	}

	@Test
	void whenTheSchemaIsAnotherThanTheTablesThenNothingIsAppended() throws Exception {
		this.client.upload("strict", SampleClient.STREAM, ArrowBytes.people(0, 1, 10));
		Answer answer = this.client.upload("strict", SampleClient.STREAM, ArrowBytes.numbers(3));
		assertProblem(answer, 409, "'number' is not in the table");
		assertThat(this.client.get("/api/tables/strict").json().get("rows").asLong()).isEqualTo(10);
		assertThat(this.client.get("/api/tables/strict").json().get("version").asLong()).isEqualTo(1);
	}

	@ParameterizedTest
	@CsvSource({ "a.b", "..", "%2e%2e", "..%2fescaped", "%2fetc%2fpasswd", "a%00b", "a%20b", "caf%c3%a9",
			"a123456789a123456789a123456789a123456789a123456789a123456789a1234" })
	void whenANameIsNoneThenItIsRefused(String name) throws Exception {
		Answer answer = this.client.upload(name, SampleClient.STREAM, ArrowBytes.people(0, 1, 1));
		// Spring itself refuses some paths before any name is looked at.
		assertThat(answer.status()).as(answer.toString()).isIn(400, 404, 405);
		assertThat(this.client.get("/api/tables/" + name).status()).isIn(400, 404);
		assertThat(this.client.get("/api/tables/" + name + "/rows").status()).isIn(400, 404);
		assertThat(dataDirectory().getParent().resolve("escaped.lance")).doesNotExist();
	}

	@Test
	void aNameWithADotIsExplained() throws Exception {
		assertProblem(this.client.upload("a.b", SampleClient.STREAM, ArrowBytes.people(0, 1, 1)), 400, "letters");
	}

	@Test
	void whenTheContentTypeIsNoneOfArrowThenItIsRefused() throws Exception {
		assertProblem(this.client.upload("typed", "text/csv", "a,b".getBytes()), 415, "text/csv");
		assertProblem(this.client.get("/api/tables/typed"), 404, "typed");
	}

	@ParameterizedTest
	@CsvSource({ "ten", "-1", "1.5", "99999999999999999999" })
	void whenTheLimitIsNoNumberThenItIsRefused(String limit) throws Exception {
		this.client.upload("limited", SampleClient.STREAM, ArrowBytes.people(0, 1, 1));
		assertProblem(this.client.get("/api/tables/limited/rows?limit=" + limit), 400, "limit");
	}

	@Test
	void whenThereIsNoSuchTableThenItIsNotFound() throws Exception {
		assertProblem(this.client.get("/api/tables/missing"), 404, "missing");
		assertProblem(this.client.get("/api/tables/missing/rows"), 404, "missing");
		assertProblem(this.client.get("/api/tables/missing/rows", "Accept", SampleClient.STREAM), 404, "missing");
	}

	@Test
	void whenNoTypeIsAcceptableThenTheAnswerSaysWhichAre() throws Exception {
		this.client.upload("accepted", SampleClient.STREAM, ArrowBytes.people(0, 1, 1));
		Answer answer = this.client.get("/api/tables/accepted/rows", "Accept", "text/csv");
		assertProblem(answer, 406, SampleClient.STREAM);
	}

	@Test
	void whenATableIsDamagedThenOnlyTheAnswerToAnUploadTalksOfStoring() throws Exception {
		Files.createDirectories(dataDirectory());
		Files.writeString(dataDirectory().resolve("damaged.lance"), "no directory");
		assertProblem(this.client.upload("damaged", SampleClient.STREAM, ArrowBytes.people(0, 1, 1)), 500,
				"nothing was stored");
		for (String path : new String[] { "/api/tables/damaged", "/api/tables/damaged/rows" }) {
			Answer answer = this.client.get(path);
			assertProblem(answer, 500, "log");
			assertThat(answer.text()).doesNotContain("stored");
		}
	}

	@ParameterizedTest
	@CsvSource({ "POST, nothing was stored", "GET, try again later" })
	void whenTheServerIsShuttingDownThenTheAnswerSaysWhatToDo(String method, String word) {
		ProblemDetail problem = new Problems()
			.failed(new LanceClosedException("closed", null, null), HttpMethod.valueOf(method))
			.getBody();
		assertThat(problem.getStatus()).isEqualTo(503);
		assertThat(problem.getDetail()).contains("shutting down", word);
	}

	private static void assertProblem(Answer answer, int status, String word) {
		assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
		assertThat(answer.contentType()).isEqualTo("application/problem+json");
		assertThat(answer.json().get("status").asInt()).isEqualTo(status);
		String detail = answer.json().get("detail").asString();
		assertThat(detail).contains(word).hasSizeGreaterThan(20).doesNotContain("Exception", "org.", "Spill '");
	}

}
