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

package org.lance.spring.spill;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.lance.spring.stream.RecordBatch;

/**
 * Another JVM with a spill file of three batches. Does what it is told, line by line, and
 * answers each line.
 */
public final class SpillChild implements AutoCloseable {

	private final Process process;

	private final BufferedReader answers;

	private SpillChild(Process process) {
		this.process = process;
		this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
	}

	/**
	 * Starts a JVM and waits until it has written its file below the directory.
	 */
	static SpillChild start(Path base) throws IOException {
		SpillChild child = new SpillChild(ChildJvm.start(Child.class, base.toString()));
		child.expect("ready");
		return child;
	}

	/**
	 * Lets it read its file with a new and an old reader's position.
	 */
	void read() throws IOException {
		tell("read");
		expect("read 0 1 2");
	}

	int reclaim() throws IOException {
		tell("reclaim");
		return Integer.parseInt(answer());
	}

	/**
	 * Ends it without any shutdown.
	 */
	void kill() throws InterruptedException {
		this.process.destroyForcibly();
		this.process.waitFor();
	}

	/**
	 * Lets it close its store and end.
	 */
	void end() throws Exception {
		tell("close");
		expect("closed");
		if (!this.process.waitFor(10, TimeUnit.SECONDS)) {
			throw new IllegalStateException("The child does not end");
		}
	}

	private void tell(String line) throws IOException {
		this.process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
		this.process.getOutputStream().flush();
	}

	private void expect(String expected) throws IOException {
		String answer = answer();
		if (!expected.equals(answer)) {
			throw new IllegalStateException("The child answered '%s' and not '%s'".formatted(answer, expected));
		}
	}

	private String answer() throws IOException {
		String line = this.answers.readLine();
		// What a logger prints is no answer.
		while (line != null && !line.startsWith("> ")) {
			line = this.answers.readLine();
		}
		return (line != null) ? line.substring(2) : "nothing";
	}

	@Override
	public void close() throws Exception {
		kill();
	}

	static final class Child implements ChildJvm.Program {

		@Override
		public void run(List<String> arguments) throws IOException {
			Path base = Path.of(arguments.get(0));
			try (BufferAllocator allocator = new RootAllocator()) {
				Batches batches = new Batches(allocator);
				FileSpillStore store = new FileSpillStore(() -> base, allocator, ReadMode.MAP);
				SpillFile file = store.create("child", Batches.SCHEMA, Map.of(), SpillFormat.PLAIN);
				for (int i = 0; i < 3; i++) {
					try (RecordBatch batch = batches.of(i)) {
						file.append(batch);
					}
				}
				System.out.println("> ready");
				BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
				for (String line = lines.readLine(); line != null && !line.equals("close"); line = lines.readLine()) {
					if ("read".equals(line)) {
						StringBuilder answer = new StringBuilder("> read");
						for (int i = 0; i < file.batches(); i++) {
							batches.take(file.read(i, Verification.ALWAYS))
								.forEach((value) -> answer.append(" " + value));
						}
						System.out.println(answer);
					}
					else {
						System.out.println("> " + store.reclaim());
					}
				}
				file.delete();
				store.close();
			}
			System.out.println("> closed");
		}

	}

}
