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

package org.lance.spring.sample;

import org.junit.jupiter.api.Test;
import org.lance.spring.sample.testing.AbstractSampleTests;
import org.lance.spring.sample.testing.SampleClient.Answer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the page and what it shows.
 */
class PageTests extends AbstractSampleTests {

	@Test
	void thePageIsAtTheRoot() throws Exception {
		Answer page = this.client.get("/");
		assertThat(page.status()).isEqualTo(200);
		assertThat(page.contentType()).startsWith("text/html");
		assertThat(page.text()).contains("Lance Spring sample").doesNotContain("http://", "https://");
		assertThat(this.client.get("/page.js").status()).isEqualTo(200);
		assertThat(this.client.get("/style.css").status()).isEqualTo(200);
	}

	@Test
	void whenTheJobIsSwitchedOffThenTheSummarySaysSo() throws Exception {
		assertThat(this.client.get("/api/summary").json().get("state").asString()).isEqualTo("OFF");
	}

	@Test
	void metersAndHealthAreExposed() throws Exception {
		assertThat(this.client.get("/actuator/health").json().get("status").asString()).isEqualTo("UP");
		assertThat(this.client.get("/actuator/metrics").text()).contains("lance.spill.active", "lance.spill.disk.used",
				"lance.source.rows", "lance.memory.allocated", "executor.active");
		assertThat(this.client.meter("lance.spill.active")).isZero();
	}

}
