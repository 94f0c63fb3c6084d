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

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.lance.spring.sample.testing.AbstractSampleTests;
import org.lance.spring.sample.testing.ArrowBytes;
import org.lance.spring.sample.testing.RawUpload;
import org.lance.spring.sample.testing.SampleClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for uploads whose clients are slow, or go away.
 */
class SlowUploadTests extends AbstractSampleTests {

	private static final int CLIENTS = 40;

	private final byte[] body = ArrowBytes.people(0, 4, 1000);

	@Test
	void whenClientsAreSlowThenNoThreadWaitsForThem() throws Exception {
		List<RawUpload> uploads = new ArrayList<>();
		try {
			for (int client = 0; client < CLIENTS; client++) {
				RawUpload upload = new RawUpload(port(), "slow" + client);
				uploads.add(upload);
				upload.send(this.body, 0, this.body.length / 2);
			}
			awaitBatches(CLIENTS);
			assertThat(this.client.meter("executor.active?tag=name:lanceBackgroundExecutor")).isZero();
			assertThat(this.client.meter("executor.active?tag=name:lanceSpillExecutor")).isZero();
			assertThat(this.client.upload("fast", SampleClient.STREAM, this.body).status()).isEqualTo(201);
			for (RawUpload upload : uploads) {
				for (int from = this.body.length / 2; from < this.body.length; from += 10_000) {
					upload.send(this.body, from, Math.min(this.body.length, from + 10_000));
				}
				upload.complete();
			}
			for (RawUpload upload : uploads) {
				assertThat(upload.answer()).startsWith("HTTP/1.1 201").contains("\"rows\":4000");
			}
		}
		finally {
			for (RawUpload upload : uploads) {
				upload.close();
			}
		}
	}

	@Test
	void whenAByteComesAtATimeThenTheUploadIsStored() throws Exception {
		byte[] small = ArrowBytes.people(0, 2, 3);
		try (RawUpload upload = new RawUpload(port(), "bytewise")) {
			for (int at = 0; at < small.length; at++) {
				upload.send(small, at, at + 1);
			}
			upload.complete();
			assertThat(upload.answer()).startsWith("HTTP/1.1 201").contains("\"rows\":6");
		}
	}

	@Test
	void whenAClientGoesAwayThenNothingIsStored() throws Exception {
		RawUpload upload = new RawUpload(port(), "reset");
		upload.send(this.body, 0, this.body.length / 2);
		awaitBatches(1);
		upload.reset();
		awaitNoSpill();
		assertThat(this.client.get("/api/tables/reset").status()).isEqualTo(404);
		assertThat(dataDirectory().resolve("reset.lance")).doesNotExist();
	}

	@Test
	void whenAClientGoesAwayBeforeAnySchemaThenNothingIsLeft() throws Exception {
		RawUpload upload = new RawUpload(port(), "early");
		upload.send(this.body, 0, 20);
		upload.reset();
		assertThat(this.client.get("/api/tables/early").status()).isEqualTo(404);
	}

	private void awaitBatches(int spillsWithBatches) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(20))
			.until(() -> spills().spills().stream().filter((spill) -> spill.batches() > 0).count(),
					(count) -> count == spillsWithBatches);
	}

	private void awaitNoSpill() {
		Awaitility.await().atMost(Duration.ofSeconds(5)).until(() -> spills().spills().isEmpty());
	}

}
