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

package org.lance.spring.source;

import org.lance.spring.stream.ArrowDataException;

/**
 * A schema that Lance could not store, or could not read back. The message names the path
 * of the field and what to change.
 *
 * @since 0.1.0
 */
public class LanceSchemaException extends ArrowDataException {

	private final String path;

	LanceSchemaException(String path, String problem) {
		super("Field '%s' %s".formatted(path, problem), null);
		this.path = path;
	}

	/**
	 * Returns the path of the field.
	 * @return the names from the top, joined by dots
	 */
	public String getPath() {
		return this.path;
	}

}
