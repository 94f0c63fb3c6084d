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

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.lance.spring.autoconfigure.ArrowMemoryUnavailableException.Reason;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LanceMemoryAutoConfiguration}.
 */
@ExtendWith(OutputCaptureExtension.class)
class LanceMemoryAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(LanceMemoryAutoConfiguration.class));

	@Test
	void whenNothingIsSetThenTheAllocatorHasTheDefaultLimit() {
		this.runner.run((context) -> assertThat(context.getBean(BufferAllocator.class).getLimit())
			.isEqualTo(4L * 1024 * 1024 * 1024));
	}

	@Test
	void whenTheLimitIsSetThenNoMoreCanBeAllocated() {
		this.runner.withPropertyValues("lance.memory.limit=1000B").run((context) -> {
			BufferAllocator allocator = context.getBean(BufferAllocator.class);
			try (ArrowBuf buffer = allocator.buffer(1000)) {
				assertThat(buffer.capacity()).as("exactly, not the next power of two").isEqualTo(1000);
				assertThatExceptionOfType(OutOfMemoryException.class).isThrownBy(() -> allocator.buffer(1));
			}
		});
	}

	@Test
	void whenTheUserHasAnAllocatorThenOursBacksOff() {
		this.runner.withUserConfiguration(UserAllocator.class).run((context) -> {
			assertThat(context).hasSingleBean(BufferAllocator.class).doesNotHaveBean("lanceAllocator");
			assertThat(context.getBean(BufferAllocator.class).getLimit()).isEqualTo(42);
		});
	}

	@Test
	void whenArrowIsMissingThenNothingIsConfigured() {
		this.runner.withClassLoader(new FilteredClassLoader(BufferAllocator.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("lanceAllocator"));
	}

	@Test
	void whenNoAllocationManagerIsPresentThenTheFailureSaysSo() {
		this.runner
			.withClassLoader(new FilteredClassLoader("org.apache.arrow.memory.unsafe",
					"org.apache.arrow.memory.DefaultAllocationManagerFactory"))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(ArrowMemoryUnavailableException.class,
						(ex) -> assertThat(ex.getReason()).isEqualTo(Reason.NO_ALLOCATION_MANAGER)));
	}

	@Test
	void whenTheContextIsClosedThenTheAllocatorIsClosed() {
		this.runner.run((context) -> {
			BufferAllocator allocator = context.getBean(BufferAllocator.class);
			context.close();
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> allocator.buffer(1));
		});
	}

	@Test
	void whenABatchIsStillHeldAtTheEndThenTheLogSaysSo(CapturedOutput output) {
		this.runner.run((context) -> {
			// Stays held: a closed allocator in debug mode takes nothing back.
			context.getBean(BufferAllocator.class).buffer(100);
			context.close();
			assertThat(output).contains("bean with name 'lanceAllocator'").contains("IllegalStateException");
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class UserAllocator {

		@Bean
		BufferAllocator myAllocator() {
			return new RootAllocator(42);
		}

	}

}
