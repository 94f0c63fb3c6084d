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

package org.lance.spring.sample.flights;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.lance.spring.sample.testing.AbstractSampleTests;
import org.lance.spring.sample.testing.SampleClient.Answer;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the job at start.
 */
@ExtendWith(OutputCaptureExtension.class)
@TestPropertySource(properties = "sample.job.enabled=true")
class FlightsJobTests extends AbstractSampleTests {

	@Autowired
	private FlightsJob job;

	@Autowired
	private FlightsJobRunner runner;

	@Test
	void theJobWritesTheTableAndTheSummaryOfOneReading() throws Exception {
		JsonNode result = result();
		assertThat(result.get("rows").asLong()).isEqualTo(200_000);
		assertThat(result.get("spilledBytes").asLong()).isGreaterThan(1_600_000);
		assertThat(result.get("version").asLong()).isPositive();
		assertThat(result.at("/summary/rows").asLong()).isEqualTo(200_000);
		// The sum of the delays, as other Arrow libraries read them from the file.
		assertThat(result.at("/summary/meanDelay").asDouble()).isEqualTo(1_500_159 / 200_000.0);
		long flights = 0;
		for (JsonNode band : result.at("/summary/bands")) {
			flights += band.get("flights").asLong();
		}
		assertThat(flights).isEqualTo(200_000);
		assertThat(this.client.get("/api/tables/flights").json().get("rows").asLong()).isEqualTo(200_000);
	}

	@Test
	void theResultIsOneLineOfTheLog(CapturedOutput output) {
		result();
		this.runner.start();
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.untilAsserted(() -> assertThat(output)
				.containsPattern("Main job done: 200,000 rows in table 'flights', version \\d+; "
						+ "[\\d,]+ bytes spilled to disk; mean delay 7.50 min; \\d+ ms"));
	}

	@Test
	void whenTheJobRunsAgainThenItReplacesTheTable() throws Exception {
		long version = result().get("version").asLong();
		FlightsResult again = this.job.run().toCompletableFuture().get();
		assertThat(again.version()).isGreaterThan(version);
		assertThat(again.rows()).isEqualTo(200_000);
		assertThat(this.client.get("/api/tables/flights").json().get("rows").asLong()).isEqualTo(200_000);
	}

	@Test
	void metersShowWhatTheJobDid() throws Exception {
		result();
		assertThat(this.client.meter("lance.source.rows")).isGreaterThanOrEqualTo(200_000);
		assertThat(this.client.meter("lance.spill.written")).isGreaterThan(1_600_000);
		Answer prometheus = this.client.get("/actuator/prometheus");
		assertThat(prometheus.text()).contains("lance_spill_written_bytes", "lance_memory_allocated_bytes");
	}

	private JsonNode result() {
		return Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.until(() -> this.client.get("/api/summary").json(),
					(summary) -> "DONE".equals(summary.get("state").asString()))
			.get("result");
	}

}
