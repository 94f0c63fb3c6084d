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

package org.lance.spring.sample.tables;

import org.lance.spring.sample.SampleProperties;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Ends uploads that are still in progress some time after the shutdown began, while the
 * server can still tell their clients why.
 */
@Component
class UploadShutdown {

	private final SampleProperties properties;

	private final Sinks.Empty<Void> closing = Sinks.empty();

	UploadShutdown(SampleProperties properties) {
		this.properties = properties;
	}

	@EventListener(ContextClosedEvent.class)
	void close() {
		this.closing.tryEmitEmpty();
	}

	/**
	 * Returns what ends an upload.
	 * @return fails when an upload may not go on, and never ends otherwise
	 */
	<T> Mono<T> refusal() {
		return this.closing.asMono()
			.then(Mono.delay(this.properties.uploadGrace()))
			.then(Mono.error(() -> new ShuttingDownException()));
	}

	/**
	 * The application shuts down before an upload is complete.
	 */
	static class ShuttingDownException extends RuntimeException {

		ShuttingDownException() {
			super("The application shuts down before the upload is complete");
		}

	}

}
