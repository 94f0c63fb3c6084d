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

import java.util.regex.Pattern;

/**
 * The name of a table, safe as the name of a directory.
 *
 * @param value the name
 * @since 0.1.0
 */
public record TableName(String value) {

	private static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9_-]{1,64}");

	public TableName {
		if (!isAllowed(value)) {
			throw new InvalidRequestException(
					"A table's name has 1 to 64 letters, digits, '_' and '-', so no path and no dot");
		}
	}

	static boolean isAllowed(String value) {
		return ALLOWED.matcher(value).matches();
	}

	@Override
	public String toString() {
		return this.value;
	}

}
