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

package org.lance.spring.benchmarks;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads the flat JSON objects that the programs here print.
 */
final class Json {

	private Json() {
	}

	static List<Double> numbers(String json, String key) {
		return Stream.of(value(json, key, "\\[([^\\]]*)\\]").split(",")).map(Double::valueOf).toList();
	}

	static long number(String json, String key) {
		return Long.parseLong(value(json, key, "(-?\\d+)"));
	}

	static String string(String json, String key) {
		return value(json, key, "\"([^\"]*)\"");
	}

	private static String value(String json, String key, String pattern) {
		Matcher matcher = Pattern.compile("\"" + key + "\"\\s*:\\s*" + pattern).matcher(json);
		if (!matcher.find()) {
			throw new IllegalArgumentException("There is no '%s' in %s".formatted(key, json));
		}
		return matcher.group(1);
	}

}
