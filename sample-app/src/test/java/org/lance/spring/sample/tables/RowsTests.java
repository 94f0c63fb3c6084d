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

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.stream.LongStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.lance.spring.sample.testing.AbstractSampleTests;
import org.lance.spring.sample.testing.ArrowBytes;
import org.lance.spring.sample.testing.SampleClient;
import org.lance.spring.sample.testing.SampleClient.Answer;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for reading the rows of a table.
 */
class RowsTests extends AbstractSampleTests {

	/**
	 * More than the buffers of a connection hold.
	 */
	private static final int LARGE = 20 << 20;

	@Test
	void rowsAreReadAsJson() throws Exception {
		this.client.upload("json", SampleClient.STREAM, ArrowBytes.people(0, 3, 1000));
		Answer answer = this.client.get("/api/tables/json/rows");
		assertThat(answer.status()).isEqualTo(200);
		assertThat(answer.contentType()).isEqualTo("application/json");
		JsonNode rows = answer.json();
		assertThat(rows.size()).isEqualTo(3000);
		assertThat(rows.at("/2999/id").asLong()).isEqualTo(2999);
		assertThat(rows.at("/2999/name").asString()).isEqualTo("person2999");
	}

	@Test
	void rowsAreReadAsAnArrowStream() throws Exception {
		this.client.upload("arrow", SampleClient.STREAM, ArrowBytes.people(0, 3, 1000));
		Answer answer = this.client.get("/api/tables/arrow/rows", "Accept", SampleClient.STREAM);
		assertThat(answer.status()).isEqualTo(200);
		assertThat(answer.contentType()).isEqualTo(SampleClient.STREAM);
		assertThat(ArrowBytes.ids(answer.bytes()))
			.containsExactlyElementsOf(LongStream.range(0, 3000).boxed().toList());
	}

	@Test
	void aLimitIsKept() throws Exception {
		this.client.upload("few", SampleClient.STREAM, ArrowBytes.people(0, 1, 100));
		assertThat(this.client.get("/api/tables/few/rows?limit=7").json().size()).isEqualTo(7);
		assertThat(this.client.get("/api/tables/few/rows?limit=1000").json().size()).isEqualTo(100);
		assertThat(this.client.get("/api/tables/few/rows?limit=0").json().size()).isZero();
		assertThat(
				ArrowBytes.ids(this.client.get("/api/tables/few/rows?limit=7", "Accept", SampleClient.STREAM).bytes()))
			.hasSize(7);
	}

	@Test
	void aClientThatTakesAnythingGetsJson() throws Exception {
		this.client.upload("any", SampleClient.STREAM, ArrowBytes.people(0, 1, 1));
		assertThat(this.client.get("/api/tables/any/rows", "Accept", "*/*").contentType())
			.isEqualTo("application/json");
	}

	@Test
	void whenAClientReadsNothingThenNoThreadOfTheEngineWaitsForIt() throws Exception {
		uploadManyRows("slow");
		try (Socket slow = request("slow")) {
			assertThat(slow.getInputStream().read()).isEqualTo('H');
			Awaitility.await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> assertThat(active()).isZero());
			Answer other = this.client.get("/api/tables/slow/rows?limit=1");
			assertThat(other.status()).isEqualTo(200);
			assertThat(allocator().getAllocatedMemory()).as("batches in flight").isLessThan(64 << 20);
			assertThat(readToTheEnd(slow.getInputStream())).isGreaterThan(LARGE);
		}
	}

	@Test
	void whenAClientGoesAwayThenItsScanIsClosed() throws Exception {
		uploadManyRows("away");
		Socket away = request("away");
		assertThat(away.getInputStream().read()).isEqualTo('H');
		away.setSoLinger(true, 0);
		away.close();
		// Nothing of the scan may be left, which every test here ends with.
	}

	private void uploadManyRows(String table) throws Exception {
		Answer answer = this.client.upload(table, SampleClient.STREAM,
				BodyPublishers.ofInputStream(() -> ArrowBytes.repeated(20, 50_000)));
		assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
	}

	private Socket request(String table) throws Exception {
		Socket socket = new Socket();
		// Small, so that what the client does not read stays with the server.
		socket.setReceiveBufferSize(16 * 1024);
		socket.connect(new InetSocketAddress("localhost", port()));
		String head = "GET /api/tables/" + table + "/rows HTTP/1.1\r\nHost: localhost\r\nAccept: " + SampleClient.STREAM
				+ "\r\nConnection: close\r\n\r\n";
		socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
		socket.getOutputStream().flush();
		return socket;
	}

	private double active() throws Exception {
		return this.client.meter("executor.active?tag=name:lanceBackgroundExecutor")
				+ this.client.meter("executor.active?tag=name:lanceSpillExecutor");
	}

	private static long readToTheEnd(InputStream in) throws Exception {
		return in.transferTo(OutputStream.nullOutputStream());
	}

}
