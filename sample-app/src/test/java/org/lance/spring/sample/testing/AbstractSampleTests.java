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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.apache.arrow.memory.BufferAllocator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.lance.spring.sample.SampleApplication;
import org.lance.spring.spill.SpillManager;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.core.env.Environment;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Base of the tests against the running sample: after each of them no spill, no spill
 * file and no Arrow memory may be left.
 */
@SpringBootTest(classes = SampleApplication.class, webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = "sample.job.enabled=false")
public abstract class AbstractSampleTests {

	private static final Duration PATIENCE = Duration.ofSeconds(10);

	@LocalServerPort
	private int port;

	@Autowired
	private BufferAllocator allocator;

	@Autowired
	private SpillManager spills;

	@Autowired
	private Environment environment;

	protected SampleClient client;

	@DynamicPropertySource
	static void directories(DynamicPropertyRegistry registry) throws IOException {
		Path target = Files.createDirectories(Path.of("target"));
		Path base = Files.createTempDirectory(target, "sample-test-").toAbsolutePath();
		registry.add("sample.data-directory", () -> base.resolve("data").toString());
		registry.add("lance.spill.directories", () -> base.resolve("spills").toString());
	}

	@BeforeEach
	void connect() {
		this.client = new SampleClient(this.port);
	}

	@AfterEach
	void nothingIsLeft() {
		Awaitility.await("everything given back").atMost(PATIENCE).untilAsserted(() -> {
			assertThat(this.spills.spills()).as("live spills").isEmpty();
			assertThat(spillFiles()).as("spill files").isEmpty();
			assertThat(this.allocator.getAllocatedMemory()).as("Arrow memory").isZero();
			assertThat(this.client.meter("lance.memory.allocated")).as("meter of Arrow memory").isZero();
		});
	}

	protected int port() {
		return this.port;
	}

	protected BufferAllocator allocator() {
		return this.allocator;
	}

	protected SpillManager spills() {
		return this.spills;
	}

	protected Path dataDirectory() {
		return Path.of(this.environment.getRequiredProperty("sample.data-directory"));
	}

	/**
	 * Returns the files of spills; the lock of the running manager is none.
	 */
	protected List<Path> spillFiles() throws IOException {
		Path directory = Path.of(this.environment.getRequiredProperty("lance.spill.directories"));
		if (!Files.exists(directory)) {
			return List.of();
		}
		try (Stream<Path> files = Files.walk(directory)) {
			return files.filter(Files::isRegularFile).filter((file) -> !isLock(file)).toList();
		}
	}

	private static boolean isLock(Path file) {
		return file.getFileName().toString().contains("lock");
	}

}
