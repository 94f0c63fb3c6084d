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

package org.lance.spring.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

import com.fasterxml.jackson.databind.JsonNode;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the tables of the documentation with what they describe.
 */
class DocumentationTests {

	private static final Path DOCS = Path.of("../docs");

	@Test
	void theTableOfPropertiesIsTheMetadata() throws IOException {
		List<List<String>> expected = StreamSupport
			.stream(ConventionsTests.metadata().get("properties").spliterator(), false)
			.sorted(Comparator.comparing((JsonNode property) -> property.get("name").asText()))
			.map(DocumentationTests::row)
			.toList();
		assertThat(table("configuration.md", "Key")).containsExactlyElementsOf(expected);
	}

	private static List<String> row(JsonNode property) {
		String type = property.get("type").asText().replaceAll("[a-z.]+\\.([A-Z])", "$1");
		String value = property.path("defaultValue").asText();
		return List.of(code(property.get("name").asText()), code(type), value.isEmpty() ? "" : code(value),
				property.get("description").asText());
	}

	@Test
	void theTableOfMetersIsWhatIsBound() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(ConventionsTests.autoConfigurations().toArray(Class[]::new)))
			.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class))
			.withBean(SimpleMeterRegistry.class)
			.run((context) -> {
				List<List<String>> expected = context.getBean(MeterRegistry.class)
					.getMeters()
					.stream()
					.filter((meter) -> meter.getId().getName().startsWith("lance."))
					.map(DocumentationTests::row)
					.distinct()
					.sorted(Comparator.comparing((row) -> row.get(0)))
					.toList();
				assertThat(table("meters.md", "Name")).containsExactlyElementsOf(expected);
				TreeSet<String> types = context.getBean(MeterRegistry.class)
					.get("lance.spill.failures")
					.meters()
					.stream()
					.map((meter) -> code(meter.getId().getTag("type")))
					.collect(Collectors.toCollection(TreeSet::new));
				String last = types.pollLast();
				assertThat(DOCS.resolve("meters.md")).content()
					.contains("`type` is one of %s and %s.".formatted(String.join(", ", types), last));
			});
	}

	@Test
	void theTableOfBeansNamesWhatIsThereForUsers() {
		Runners.all().run((context) -> {
			List<String> documented = table("../README.md", "bean").stream()
				.flatMap((row) -> Arrays.stream(row.get(0).replace("`", "").split(", ")))
				.toList();
			List<String> internal = List.of("lanceAllocatorOutlivesExecutors", "lanceDrain");
			List<String> ours = Arrays.stream(context.getBeanDefinitionNames())
				.filter((name) -> isOurs(context.getBeanFactory().getBeanDefinition(name)))
				.filter((name) -> !internal.contains(name))
				.toList();
			assertThat(documented).containsExactlyInAnyOrderElementsOf(ours);
		});
	}

	private static boolean isOurs(BeanDefinition definition) {
		String factory = definition.getFactoryBeanName();
		return definition.getFactoryMethodName() != null && factory != null && factory.startsWith("org.lance.spring.");
	}

	private static List<String> row(Meter meter) {
		Meter.Id id = meter.getId();
		String tags = id.getTags()
			.stream()
			.map(Tag::getKey)
			.map(DocumentationTests::code)
			.collect(Collectors.joining(", "));
		String type = (meter instanceof FunctionTimer) ? "timer"
				: (meter instanceof FunctionCounter) ? "counter" : "gauge";
		return List.of(code(id.getName()), type, id.getBaseUnit(), tags, id.getDescription());
	}

	private static String code(String text) {
		return "`" + text + "`";
	}

	/**
	 * Reads the first table whose first column has that header.
	 */
	private static List<List<String>> table(String file, String header) throws IOException {
		return Files.readAllLines(DOCS.resolve(file))
			.stream()
			.dropWhile((line) -> !line.startsWith("| " + header + " |"))
			.takeWhile((line) -> line.startsWith("|"))
			.skip(2)
			.map((line) -> Arrays.stream(line.substring(1).split("\\|")).map(String::strip).toList())
			.toList();
	}

}
