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

package org.lance.spring.docs;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

import org.apache.arrow.memory.BufferAllocator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.lance.spring.autoconfigure.LanceExecutorAutoConfiguration;
import org.lance.spring.autoconfigure.LanceLifecycleAutoConfiguration;
import org.lance.spring.autoconfigure.LanceMemoryAutoConfiguration;
import org.lance.spring.autoconfigure.LanceSourceAutoConfiguration;
import org.lance.spring.autoconfigure.LanceSpillAutoConfiguration;
import org.lance.spring.testing.EngineExtension;
import org.lance.spring.testing.GoldenFiles;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the README shows is what is compiled and run here.
 */
class ReadmeTests {

	private static final Path README = Path.of("../README.md");

	private static final Path EXAMPLE = Path.of("src/test/java/org/lance/spring/docs/Deliveries.java");

	private final ApplicationContextRunner contexts = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(LanceMemoryAutoConfiguration.class,
				LanceExecutorAutoConfiguration.class, LanceSourceAutoConfiguration.class,
				LanceSpillAutoConfiguration.class, LanceLifecycleAutoConfiguration.class))
		.withBean(Deliveries.class);

	@Test
	void theExampleOfTheReadmeIsTheOneThatIsCompiled() throws Exception {
		String example = Files.readString(EXAMPLE).split("// example\n")[1];
		assertThat(Files.readString(README)).contains("```java\n" + example + "```");
	}

	@Test
	void theExampleReadsAOneShotStreamTwice() {
		this.contexts.withPropertyValues("lance.spill.memory-limit=64MB", "lance.spill.total-memory-limit=512MB")
			.run((context) -> {
				InputStream arrow = Files.newInputStream(GoldenFiles.stream("generated_primitive"));
				long rows = EngineExtension.await(context.getBean(Deliveries.class).countTwice(arrow));
				assertThat(rows).isEqualTo(2 * 37);
				BufferAllocator allocator = context.getBean(BufferAllocator.class);
				// Closing a spill does not wait until its memory is given back.
				Awaitility.await().untilAsserted(() -> assertThat(allocator.getAllocatedMemory()).isZero());
			});
	}

}
