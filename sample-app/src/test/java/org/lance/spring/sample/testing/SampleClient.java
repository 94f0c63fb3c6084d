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

package org.lance.spring.sample.testing;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Talks to the sample over HTTP, as its clients do.
 */
public final class SampleClient {

	public static final String STREAM = "application/vnd.apache.arrow.stream";

	public static final String FILE = "application/vnd.apache.arrow.file";

	private static final JsonMapper mapper = JsonMapper.shared();

	private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private final int port;

	public SampleClient(int port) {
		this.port = port;
	}

	public Answer get(String path, String... headers) throws IOException, InterruptedException {
		return send(request(path, headers).GET().build());
	}

	public Answer upload(String table, String contentType, byte[] body) throws IOException, InterruptedException {
		return upload(table, contentType, BodyPublishers.ofByteArray(body));
	}

	public Answer upload(String table, String contentType, BodyPublisher body)
			throws IOException, InterruptedException {
		return send(request("/api/tables/" + table, "Content-Type", contentType).POST(body).build());
	}

	public CompletableFuture<Answer> uploadAsync(String table, byte[] body) {
		HttpRequest request = request("/api/tables/" + table, "Content-Type", STREAM)
			.POST(BodyPublishers.ofByteArray(body))
			.build();
		return this.client.sendAsync(request, BodyHandlers.ofByteArray()).thenApply(Answer::new);
	}

	/**
	 * Returns the value of a gauge or counter.
	 */
	public double meter(String name) throws IOException, InterruptedException {
		return get("/actuator/metrics/" + name).json().at("/measurements/0/value").asDouble();
	}

	private HttpRequest.Builder request(String path, String... headers) {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost:" + this.port + path))
			.timeout(Duration.ofSeconds(60));
		return (headers.length != 0) ? request.headers(headers) : request;
	}

	private Answer send(HttpRequest request) throws IOException, InterruptedException {
		return new Answer(this.client.send(request, BodyHandlers.ofByteArray()));
	}

	/**
	 * An answer of the sample.
	 *
	 * @param response the response
	 */
	public record Answer(HttpResponse<byte[]> response) {

		public int status() {
			return this.response.statusCode();
		}

		public String contentType() {
			return this.response.headers().firstValue("Content-Type").orElse("");
		}

		public byte[] bytes() {
			return this.response.body();
		}

		public String text() {
			return new String(this.response.body(), StandardCharsets.UTF_8);
		}

		public JsonNode json() {
			return mapper.readTree(this.response.body());
		}

		@Override
		public String toString() {
			return status() + " " + contentType() + " "
					+ (contentType().contains("json") ? text() : bytes().length + " bytes");
		}

	}

}
