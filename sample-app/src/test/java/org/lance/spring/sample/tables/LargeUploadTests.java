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

import java.net.http.HttpRequest.BodyPublishers;

import org.junit.jupiter.api.Test;
import org.lance.spring.sample.testing.AbstractSampleTests;
import org.lance.spring.sample.testing.ArrowBytes;
import org.lance.spring.sample.testing.SampleClient;
import org.lance.spring.sample.testing.SampleClient.Answer;

import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for an upload that is much larger than the memory it may use. The same with 2 GB
 * is {@code src/test/scripts/big-upload.sh}.
 */
@TestPropertySource(properties = "lance.spill.memory-limit=4MB")
class LargeUploadTests extends AbstractSampleTests {

	private static final int BATCHES = 100;

	private static final int ROWS = 75_000;

	private static final long MEMORY = 64 << 20;

	@Test
	void anUploadUsesLittleMemory() throws Exception {
		Answer answer = this.client.upload("large", SampleClient.STREAM,
				BodyPublishers.ofInputStream(() -> ArrowBytes.repeated(BATCHES, ROWS)));
		assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
		assertThat(answer.json().get("rows").asLong()).isEqualTo((long) BATCHES * ROWS);
		assertThat(answer.json().get("bytes").asLong()).isGreaterThan(MEMORY * 2);
		assertThat(answer.json().get("spilledBytes").asLong()).isGreaterThan(MEMORY * 2);
		assertThat(allocator().getPeakMemoryAllocation()).as("peak of Arrow memory").isLessThan(MEMORY);
	}

}
