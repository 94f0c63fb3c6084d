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

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Settings of the sample.
 *
 * @param dataDirectory where the Lance tables are; no {@link java.nio.file.Path}, which
 * Spring would look for on the class path first
 * @param spillMemoryLimit how much of the bundled file stays in memory; less than the
 * file has, so that its spill goes to disk
 * @param uploadGrace how long uploads may go on at shutdown, before they are refused
 * @param job the job at start
 * @since 0.1.0
 */
@ConfigurationProperties("sample")
public record SampleProperties(@DefaultValue("data") String dataDirectory,
		@DefaultValue("256KB") DataSize spillMemoryLimit, @DefaultValue("5s") Duration uploadGrace,
		@DefaultValue Job job) {

	/**
	 * The job at start.
	 *
	 * @param enabled whether it runs
	 * @since 0.1.0
	 */
	public record Job(@DefaultValue("true") boolean enabled) {

	}

}
