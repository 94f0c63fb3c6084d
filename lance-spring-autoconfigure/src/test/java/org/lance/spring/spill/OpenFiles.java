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

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Fails a test that leaves a file open or mapped, or a codec open.
 */
final class OpenFiles implements BeforeEachCallback, AfterEachCallback {

	private int channels;

	private int mappings;

	private int codecs;

	@Override
	public void beforeEach(ExtensionContext context) {
		this.channels = LocalChannel.open();
		this.mappings = MappedWindow.open();
		this.codecs = ZstdCodec.open();
	}

	@Override
	public void afterEach(ExtensionContext context) {
		if (context.getExecutionException().isEmpty()) {
			check();
		}
	}

	/**
	 * Fails if more is open now than before the test.
	 */
	void check() {
		assertThat(LocalChannel.open()).as("files left open").isEqualTo(this.channels);
		assertThat(MappedWindow.open()).as("files left mapped").isEqualTo(this.mappings);
		assertThat(ZstdCodec.open()).as("codecs left open").isEqualTo(this.codecs);
	}

}
