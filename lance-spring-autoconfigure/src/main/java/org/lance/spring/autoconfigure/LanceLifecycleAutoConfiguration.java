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

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.lance.spring.dataset.LanceTemplate;
import org.lance.spring.spill.SpillManager;
import org.lance.spring.stream.BackgroundExecutor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.context.LifecycleProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the order in which the application stops working on streams.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = { LanceDatasetAutoConfiguration.class, LanceSourceAutoConfiguration.class,
		LanceSpillAutoConfiguration.class })
@ConditionalOnClass({ BufferAllocator.class, VectorSchemaRoot.class })
@EnableConfigurationProperties(LanceProperties.class)
public final class LanceLifecycleAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(LanceLifecycleAutoConfiguration.class);

	@Bean
	LanceDrain lanceDrain(ObjectProvider<LanceTemplate> templates, ObjectProvider<SpillManager> spills,
			ObjectProvider<BackgroundExecutor> streams, ObjectProvider<LifecycleProperties> lifecycle,
			LanceProperties properties) {
		List<LanceDrain.Drainable> all = new ArrayList<>();
		templates.orderedStream().map(LanceDrain.Drainable::of).forEach(all::add);
		spills.orderedStream().map(LanceDrain.Drainable::of).forEach(all::add);
		streams.orderedStream().map(LanceDrain.Drainable::of).forEach(all::add);
		Duration grace = properties.background().awaitTermination();
		lifecycle.ifUnique((ofBoot) -> warnIfCutShort(grace, ofBoot.getTimeoutPerShutdownPhase()));
		return new LanceDrain(all, grace);
	}

	private static void warnIfCutShort(Duration grace, Duration phase) {
		if (grace.plus(LanceDrain.CLOSING_TIME).compareTo(phase) > 0) {
			logger
				.warn("'lance.background.await-termination' is {}, and what fails then takes up to {} more, but Spring "
						+ "Boot waits only {} for each phase of the shutdown: lower it, or raise "
						+ "'spring.lifecycle.timeout-per-shutdown-phase'", grace, LanceDrain.CLOSING_TIME, phase);
		}
	}

}
