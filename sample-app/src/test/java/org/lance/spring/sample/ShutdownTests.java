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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lance.spring.sample.testing.ArrowBytes;
import org.lance.spring.sample.testing.ChildSample;
import org.lance.spring.sample.testing.RawUpload;
import org.lance.spring.sample.testing.SampleClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the end of the process in the middle of an upload.
 */
class ShutdownTests {

	private final byte[] body = ArrowBytes.people(0, 4, 1000);

	@TempDir
	private Path directory;

	@Test
	void whenTerminatedThenUploadsThatAreNotCompleteAreRefusedAndNothingIsLeft() throws Exception {
		try (ChildSample sample = start("one", "--sample.upload-grace=1s");
				RawUpload upload = beginUpload(sample, "interrupted")) {
			sample.terminate();
			assertThat(upload.answer()).startsWith("HTTP/1.1 503")
				.contains("application/problem+json", "shutting down", "Retry-After");
			assertThat(sample.awaitExit()).isEqualTo(143);
			assertThat(children(spills())).isEmpty();
			assertThat(this.directory.resolve("one/data/interrupted.lance")).doesNotExist();
			assertThat(sample.log()).doesNotContain("RejectedExecutionException", "Memory was leaked");
		}
	}

	@Test
	void whenTerminatedThenAnUploadThatCompletesInTimeIsStored() throws Exception {
		try (ChildSample sample = start("one", "--sample.upload-grace=60s",
				"--spring.lifecycle.timeout-per-shutdown-phase=60s");
				RawUpload upload = beginUpload(sample, "completed")) {
			sample.terminate();
			Awaitility.await()
				.atMost(Duration.ofSeconds(30))
				.until(() -> sample.log().contains("Commencing graceful shutdown"));
			upload.send(this.body, this.body.length / 2, this.body.length);
			upload.complete();
			assertThat(upload.answer()).startsWith("HTTP/1.1 201").contains("\"rows\":4000");
			assertThat(sample.awaitExit()).isEqualTo(143);
			assertThat(children(spills())).isEmpty();
			assertThat(this.directory.resolve("one/data/completed.lance")).isDirectory();
		}
	}

	@Test
	void whenKilledThenTheNextStartReclaimsItsDirectoryAndNoOther() throws Exception {
		try (ChildSample living = start("living"); RawUpload upload = beginUpload(living, "kept")) {
			List<Path> kept = processDirectories();
			assertThat(kept).hasSize(1);
			try (ChildSample killed = start("killed"); RawUpload lost = beginUpload(killed, "lost")) {
				assertThat(processDirectories()).hasSize(2);
				killed.kill();
				assertThat(processDirectories()).hasSize(2);
			}
			try (ChildSample next = start("next")) {
				SampleClient client = new SampleClient(next.port());
				Awaitility.await()
					.atMost(Duration.ofSeconds(20))
					.untilAsserted(() -> assertThat(client.meter("lance.spill.orphans.reclaimed")).isEqualTo(1));
				assertThat(processDirectories()).containsAll(kept);
				upload.send(this.body, this.body.length / 2, this.body.length);
				upload.complete();
				assertThat(upload.answer()).startsWith("HTTP/1.1 201").contains("\"rows\":4000");
			}
		}
	}

	private ChildSample start(String name, String... arguments) throws IOException {
		Path own = Files.createDirectories(this.directory.resolve(name));
		String[] all = Stream
			.concat(Stream.of("--lance.spill.directories=" + spills(), "--lance.spill.memory-limit=0B"),
					Stream.of(arguments))
			.toArray(String[]::new);
		return ChildSample.start(own, all);
	}

	/**
	 * Begins an upload and waits until some of it is in a file.
	 */
	private RawUpload beginUpload(ChildSample sample, String table) throws IOException {
		int before = spillFiles().size();
		RawUpload upload = new RawUpload(sample.port(), table);
		upload.send(this.body, 0, this.body.length / 2);
		Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> spillFiles().size() > before);
		return upload;
	}

	private Path spills() {
		return this.directory.resolve("spills");
	}

	/**
	 * Each process has a directory, with a lock file beside it.
	 */
	private List<Path> processDirectories() throws IOException {
		return Files.exists(spills()) ? children(spills()).stream().filter(Files::isDirectory).toList() : List.of();
	}

	private List<Path> spillFiles() throws IOException {
		List<Path> files = new ArrayList<>();
		for (Path process : processDirectories()) {
			files.addAll(children(process));
		}
		return files;
	}

	private static List<Path> children(Path directory) throws IOException {
		try (Stream<Path> children = Files.list(directory)) {
			return children.toList();
		}
	}

}
