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

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;
import org.lance.spring.sample.testing.AbstractSampleTests;
import org.lance.spring.sample.testing.ArrowBytes;
import org.lance.spring.sample.testing.SampleClient;
import org.lance.spring.sample.testing.SampleClient.Answer;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for uploads that are fine.
 */
class UploadTests extends AbstractSampleTests {

	@Test
	void anUploadCreatesATableAndTheNextAppends() throws Exception {
		byte[] body = ArrowBytes.people(0, 3, 10);
		Answer created = this.client.upload("people", SampleClient.STREAM, body);
		assertThat(created.status()).as(created.toString()).isEqualTo(201);
		assertThat(created.response().headers().firstValue("Location")).hasValue("/api/tables/people");
		JsonNode result = created.json();
		assertThat(result.get("table").asString()).isEqualTo("people");
		assertThat(result.get("created").asBoolean()).isTrue();
		assertThat(result.get("rows").asLong()).isEqualTo(30);
		assertThat(result.get("batches").asLong()).isEqualTo(3);
		assertThat(result.get("bytes").asLong()).isEqualTo(body.length);
		assertThat(result.get("spilledBytes").asLong()).isZero();
		assertThat(result.get("version").asLong()).isEqualTo(1);
		assertThat(result.get("millis").asLong()).isNotNegative();

		Answer appended = this.client.upload("people", SampleClient.FILE, ArrowBytes.peopleFile(30, 1, 5));
		assertThat(appended.status()).as(appended.toString()).isEqualTo(200);
		assertThat(appended.json().get("created").asBoolean()).isFalse();
		assertThat(appended.json().get("rows").asLong()).isEqualTo(5);
		assertThat(appended.json().get("version").asLong()).isEqualTo(2);

		JsonNode table = this.client.get("/api/tables/people").json();
		assertThat(table.get("rows").asLong()).isEqualTo(35);
		assertThat(table.get("version").asLong()).isEqualTo(2);
		assertThat(table.at("/schema/0/name").asString()).isEqualTo("id");
		assertThat(table.at("/schema/0/type").asString()).isEqualTo("Int(64, true)");
		assertThat(table.at("/schema/1/nullable").asBoolean()).isTrue();
		assertThat(table.at("/schema/0").propertyNames()).containsExactlyInAnyOrder("name", "type", "nullable");
		assertThat(tables()).contains("people");
	}

	@Test
	void aStreamWithoutBatchesCreatesAnEmptyTable() throws Exception {
		Answer created = this.client.upload("nobody", SampleClient.STREAM, ArrowBytes.people(0, 0, 0));
		assertThat(created.status()).as(created.toString()).isEqualTo(201);
		assertThat(this.client.get("/api/tables/nobody").json().get("rows").asLong()).isZero();
		assertThat(this.client.get("/api/tables/nobody/rows").json()).isEmpty();
	}

	@Test
	void whenUploadsCreateTheSameTableAtOnceThenNoRowIsLost() throws Exception {
		int uploads = 8;
		List<CompletableFuture<Answer>> answers = new ArrayList<>();
		for (int i = 0; i < uploads; i++) {
			answers.add(this.client.uploadAsync("race", ArrowBytes.people(i * 1000, 1, 1000)));
		}
		for (CompletableFuture<Answer> answer : answers) {
			assertThat(answer.get().status()).as(answer.get().toString()).isBetween(200, 201);
		}
		assertThat(answers.stream().filter((answer) -> answer.join().status() == 201)).hasSize(1);
		List<Long> ids = ArrowBytes
			.ids(this.client.get("/api/tables/race/rows", "Accept", SampleClient.STREAM).bytes());
		assertThat(ids).containsExactlyInAnyOrderElementsOf(LongStream.range(0, uploads * 1000).boxed().toList());
	}

	private List<String> tables() throws Exception {
		return this.client.get("/api/tables").json().findValuesAsString("table");
	}

}
