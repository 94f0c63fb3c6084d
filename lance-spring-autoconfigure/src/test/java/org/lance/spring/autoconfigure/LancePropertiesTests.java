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

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.lance.spring.spill.ReadMode;
import org.lance.spring.spill.SpillCodec;
import org.lance.spring.spill.SpillMode;
import org.lance.spring.spill.UnusableDirectory;
import org.lance.spring.spill.Verification;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.actuate.context.properties.ConfigurationPropertiesReportEndpoint;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LanceProperties}.
 */
class LancePropertiesTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withUserConfiguration(PropertiesConfiguration.class);

	@Test
	void whenNothingIsSetThenDefaultsApply() {
		this.runner.run((context) -> {
			LanceProperties properties = context.getBean(LanceProperties.class);
			assertThat(properties.memory().limit()).isEqualTo(DataSize.ofGigabytes(4));
			assertThat(properties.background().threads()).isEqualTo(8);
			assertThat(properties.background().queueCapacity()).isEqualTo(100);
			assertThat(properties.background().keepAlive()).isEqualTo(Duration.ofMinutes(1));
			assertThat(properties.background().awaitTermination()).isEqualTo(Duration.ofSeconds(20));
			assertThat(properties.source().readAhead()).isOne();
			assertThat(properties.spill().directories()).isEmpty();
			assertThat(properties.spill().memoryLimit()).isEqualTo(DataSize.ofMegabytes(100));
			assertThat(properties.spill().totalMemoryLimit()).isEqualTo(DataSize.ofGigabytes(1));
			assertThat(properties.spill().diskLimit()).isNull();
			assertThat(properties.spill().mode()).isEqualTo(SpillMode.SPILL);
			assertThat(properties.spill().onUnusableDirectory()).isEqualTo(UnusableDirectory.FAIL);
			assertThat(properties.spill().minFreeSpace()).isEqualTo(DataSize.ofMegabytes(100));
			assertThat(properties.spill().minFreePercent()).isOne();
			assertThat(properties.spill().directoryRetry()).isEqualTo(Duration.ofMinutes(1));
			assertThat(properties.spill().threads()).isEqualTo(4);
			assertThat(properties.spill().verification()).isEqualTo(Verification.ALWAYS);
			assertThat(properties.spill().readMode()).isEqualTo(ReadMode.MAP);
			assertThat(properties.spill().compression().codec()).isEqualTo(SpillCodec.NONE);
			assertThat(properties.spill().compression().level()).isOne();
			assertThat(properties.spill().encryption().enabled()).isFalse();
		});
	}

	@Test
	void whenDirectoriesAreSetThenTheyArePathsAsWritten() {
		this.runner.withPropertyValues("lance.spill.directories=/disk1/a b,relative/dir")
			.run((context) -> assertThat(context.getBean(LanceProperties.class).spill().directories())
				.containsExactly(Path.of("/disk1/a b"), Path.of("relative/dir")));
	}

	@ParameterizedTest
	@CsvSource({ "lance.memory.limit,0", "lance.memory.limit,-1", "lance.background.threads,0",
			"lance.background.queue-capacity,-1", "lance.background.keep-alive,999ms",
			"lance.background.keep-alive,25h", "lance.background.await-termination,-1s",
			"lance.background.await-termination,25h", "lance.source.read-ahead,-1", "lance.spill.memory-limit,-1",
			"lance.spill.total-memory-limit,-1", "lance.spill.disk-limit,0", "lance.spill.disk-limit,-1",
			"lance.spill.min-free-space,-1", "lance.spill.min-free-percent,-1", "lance.spill.min-free-percent,100",
			"lance.spill.directory-retry,-1s", "lance.spill.directory-retry,25h", "lance.spill.threads,0",
			"lance.spill.compression.level,23", "lance.spill.compression.level,-131073" })
	void whenAValueCannotWorkThenTheStartEndsWithASentenceThatNamesTheKey(String key, String value) {
		this.runner.withPropertyValues(key + "=" + value).run((context) -> {
			assertThat(context).hasFailed();
			FailureAnalysis analysis = analyze(context.getStartupFailure(), key, value);
			assertThat(analysis.getDescription()).contains("'" + key + "'").contains("It must be");
		});
	}

	@Test
	void whenADirectoryHasNoNameThenTheStartEndsWithASentenceThatNamesTheKey() {
		this.runner.withPropertyValues("lance.spill.directories[0]=a", "lance.spill.directories[1]=").run((context) -> {
			assertThat(context).hasFailed();
			FailureAnalysis analysis = analyze(context.getStartupFailure(), "lance.spill.directories[1]", "");
			assertThat(analysis.getDescription()).contains("lance.spill.directories");
		});
	}

	@ParameterizedTest
	@CsvSource({ "lance.memory.limit,lots", "lance.background.threads,two", "lance.background.queue-capacity,1.5",
			"lance.background.keep-alive,ever", "lance.background.await-termination,soon",
			"lance.source.read-ahead,some", "lance.spill.memory-limit,100XB", "lance.spill.total-memory-limit,GB",
			"lance.spill.disk-limit,much", "lance.spill.min-free-space,some", "lance.spill.min-free-percent,1%",
			"lance.spill.directory-retry,later", "lance.spill.mode,maybe", "lance.spill.on-unusable-directory,cry",
			"lance.spill.threads,many", "lance.spill.verification,sometimes", "lance.spill.read-mode,write",
			"lance.spill.compression.codec,zip", "lance.spill.compression.level,high",
			"lance.spill.encryption.enabled,perhaps" })
	void whenAValueIsOfAnotherTypeThenTheAnalysisNamesTheKey(String key, String value) {
		this.runner.withPropertyValues(key + "=" + value).run((context) -> {
			assertThat(context).hasFailed();
			FailureAnalysis analysis = analyze(context.getStartupFailure(), key, value);
			assertThat(analysis.getDescription()).contains(key).contains(value);
		});
	}

	@Test
	void theEndpointThatShowsPropertiesShowsThem() {
		this.runner
			.withBean(ConfigurationPropertiesReportEndpoint.class,
					() -> new ConfigurationPropertiesReportEndpoint(List.of(), Show.ALWAYS))
			.withPropertyValues("lance.background.threads=3")
			.run((context) -> assertThat(context.getBean(ConfigurationPropertiesReportEndpoint.class)
				.configurationPropertiesWithPrefix("lance")
				.getContexts()
				.values()
				.iterator()
				.next()
				.getBeans()
				.values())
				.singleElement()
				.satisfies((bean) -> assertThat(bean.getProperties()).extractingByKey("background")
					.asInstanceOf(InstanceOfAssertFactories.MAP)
					.containsEntry("threads", 3)));
	}

	/**
	 * As {@code SpringApplication} does it: the first analyzer that knows the failure,
	 * leaving out those for libraries that are not here.
	 */
	private static FailureAnalysis analyze(Throwable failure, String key, String value) {
		Environment environment = new MockEnvironment().withProperty(key, value);
		ArgumentResolver arguments = ArgumentResolver.of(Environment.class, environment)
			.and(BeanFactory.class, new DefaultListableBeanFactory());
		SpringFactoriesLoader loader = SpringFactoriesLoader.forDefaultResourceLocation();
		return loader.load(FailureAnalyzer.class, arguments, (type, name, ex) -> {
		})
			.stream()
			.map((analyzer) -> analyzer.analyze(failure))
			.filter((analysis) -> analysis != null)
			.findFirst()
			.orElseThrow();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties(LanceProperties.class)
	static class PropertiesConfiguration {

	}

}
