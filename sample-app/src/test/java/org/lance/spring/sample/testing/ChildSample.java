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

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.awaitility.Awaitility;
import org.lance.spring.sample.SampleApplication;

/**
 * The sample in a process of its own, which can be terminated and killed.
 */
public final class ChildSample implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(90);

	private static final Pattern STARTED = Pattern.compile("Netty started on port (\\d+)");

	private final Process process;

	private final Path log;

	private final int port;

	private ChildSample(Process process, Path log) {
		this.process = process;
		this.log = log;
		this.port = awaitPort();
	}

	/**
	 * Starts the sample and waits until it takes requests.
	 * @param directory where its log, temporary files and data go
	 * @param arguments more arguments of the application
	 */
	public static ChildSample start(Path directory, String... arguments) throws IOException {
		Path temp = Files.createDirectories(directory.resolve("tmp"));
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		ManagementFactory.getRuntimeMXBean()
			.getInputArguments()
			.stream()
			.filter((argument) -> argument.startsWith("--"))
			.forEach(command::add);
		command.addAll(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + temp, "-cp",
				System.getProperty("java.class.path"), SampleApplication.class.getName()));
		command.addAll(List.of("--server.port=0", "--sample.job.enabled=false",
				"--sample.data-directory=" + directory.resolve("data")));
		command.addAll(List.of(arguments));
		File log = directory.resolve("log.txt").toFile();
		Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log).start();
		return new ChildSample(process, log.toPath());
	}

	private int awaitPort() {
		return Awaitility.await().atMost(PATIENCE).until(() -> {
			Matcher started = STARTED.matcher(log());
			if (!started.find()) {
				if (!this.process.isAlive()) {
					throw new IllegalStateException("The sample did not start: " + log());
				}
				return 0;
			}
			return Integer.parseInt(started.group(1));
		}, (found) -> found > 0);
	}

	public int port() {
		return this.port;
	}

	public String log() throws IOException {
		return Files.readString(this.log);
	}

	/**
	 * Asks the process to end, as an operator does (SIGTERM).
	 */
	public void terminate() {
		this.process.destroy();
	}

	/**
	 * Ends the process at once (SIGKILL).
	 */
	public void kill() throws InterruptedException {
		this.process.destroyForcibly().waitFor();
	}

	/**
	 * Waits until the process has ended.
	 * @return its exit code
	 */
	public int awaitExit() throws InterruptedException {
		if (!this.process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
			throw new IllegalStateException("The sample does not end");
		}
		return this.process.exitValue();
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
	}

}
