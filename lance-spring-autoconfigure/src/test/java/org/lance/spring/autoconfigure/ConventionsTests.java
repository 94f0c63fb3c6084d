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
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.type.filter.AnnotationTypeFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks what Spring Boot's own build checks of its auto-configurations.
 */
class ConventionsTests {

	private static final Path MAIN = Path.of("src/main/java");

	@Test
	void everyAutoConfigurationIsListedOnceAndInOrder() throws IOException {
		List<String> listed = lines("META-INF/spring/" + AutoConfiguration.class.getName() + ".imports");
		assertThat(listed).isSorted().doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(found());
	}

	@Test
	void everythingThatSpringFactoriesNameExists() throws Exception {
		Properties factories = new Properties();
		try (InputStream input = resource("META-INF/spring.factories")) {
			factories.load(input);
		}
		assertThat(factories).isNotEmpty();
		for (Map.Entry<Object, Object> entry : factories.entrySet()) {
			Class<?> type = Class.forName((String) entry.getKey());
			for (String name : ((String) entry.getValue()).split(",")) {
				assertThat(type).isAssignableFrom(Class.forName(name.strip()));
			}
		}
	}

	@ParameterizedTest
	@MethodSource("autoConfigurations")
	void anAutoConfigurationIsPublicAndFinalAndKeepsItsMethodsToItself(Class<?> type) {
		assertThat(type.getSimpleName()).endsWith("AutoConfiguration");
		assertThat(Modifier.isPublic(type.getModifiers())).isTrue();
		assertThat(Modifier.isFinal(type.getModifiers())).isTrue();
		assertThat(Arrays.stream(type.getDeclaredMethods()).filter((method) -> !method.isSynthetic()))
			.noneMatch((method) -> Modifier.isPublic(method.getModifiers()));
		assertThat(Arrays.stream(type.getDeclaredFields()).map(Field::getModifiers).filter(Modifier::isPublic))
			.allMatch(Modifier::isStatic)
			.allMatch(Modifier::isFinal);
		assertThat(beanMethods(type)).isNotEmpty()
			.allMatch((method) -> !Modifier.isPrivate(method.getModifiers()))
			.allMatch((method) -> !Modifier.isPrivate(method.getReturnType().getModifiers()));
	}

	@ParameterizedTest
	@MethodSource("autoConfigurations")
	void everyClassThatAnAutoConfigurationIsOrderedByExists(Class<?> type) {
		AutoConfiguration annotation = type.getAnnotation(AutoConfiguration.class);
		List<String> names = new ArrayList<>();
		Stream.of(annotation.after(), annotation.before())
			.flatMap(Arrays::stream)
			.map(Class::getName)
			.forEach(names::add);
		Stream.of(annotation.afterName(), annotation.beforeName()).flatMap(Arrays::stream).forEach(names::add);
		assertThat(names).allSatisfy(
				(name) -> assertThat(MergedAnnotations.from(Class.forName(name)).isPresent(AutoConfiguration.class))
					.as(name)
					.isTrue());
	}

	@Test
	void everyPropertyIsDescribed() throws IOException {
		JsonNode properties = metadata().get("properties");
		assertThat(properties).isNotEmpty().allSatisfy((property) -> {
			String name = property.get("name").asText();
			assertThat(name).startsWith("lance.");
			assertThat(property.path("description").asText()).as("description of " + name)
				.matches("(?s)[A-Z].*\\.")
				.doesNotContain("{@", "<", "\n")
				.doesNotMatch("(?s)(The|A|An) .*");
			assertThat(property.has("defaultValue") || property.get("description").asText().contains("Defaults to"))
				.as("default of " + name)
				.isTrue();
		});
	}

	@Test
	void everyPackageIsNullMarked() throws IOException {
		try (Stream<Path> files = Files.walk(MAIN)) {
			List<Path> packages = files.filter((file) -> file.toString().endsWith(".java"))
				.map(Path::getParent)
				.distinct()
				.toList();
			assertThat(packages).isNotEmpty()
				.allSatisfy(
						(folder) -> assertThat(folder.resolve("package-info.java")).content().contains("@NullMarked"));
		}
	}

	static List<Class<?>> autoConfigurations() {
		List<Class<?>> types = new ArrayList<>();
		for (String name : ImportCandidates.load(AutoConfiguration.class, ConventionsTests.class.getClassLoader())) {
			if (name.startsWith("org.lance.spring.")) {
				try {
					types.add(Class.forName(name));
				}
				catch (ClassNotFoundException ex) {
					throw new IllegalStateException(ex);
				}
			}
		}
		return types;
	}

	static Stream<Method> beanMethods(Class<?> type) {
		return Arrays.stream(type.getDeclaredMethods()).filter((method) -> method.isAnnotationPresent(Bean.class));
	}

	static JsonNode metadata() throws IOException {
		try (InputStream input = resource("META-INF/spring-configuration-metadata.json")) {
			return new ObjectMapper().readTree(input);
		}
	}

	private static List<String> found() {
		ClassPathScanningCandidateComponentProvider scanner = new ClassPathScanningCandidateComponentProvider(false);
		scanner.addIncludeFilter(new AnnotationTypeFilter(AutoConfiguration.class));
		return scanner.findCandidateComponents("org.lance.spring")
			.stream()
			.map((definition) -> definition.getBeanClassName())
			.toList();
	}

	/**
	 * Opens a resource of ours; other jars on the class path have some of the same name.
	 */
	private static InputStream resource(String name) throws IOException {
		return Files.newInputStream(Path.of("target/classes", name));
	}

	private static List<String> lines(String name) {
		try (InputStream input = resource(name)) {
			return new String(input.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
