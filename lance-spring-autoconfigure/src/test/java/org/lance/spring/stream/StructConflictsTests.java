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

package org.lance.spring.stream;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lance.spring.testing.ArrowTypes;
import org.lance.spring.testing.GeneratedBody;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Arrow reads the policy once per JVM, and the build sets it for its tests: so this runs
 * in a JVM of its own, without it.
 */
public class StructConflictsTests {

	/**
	 * Seals and opens a struct with two children of one name.
	 * @param args none
	 */
	public static void main(String[] args) {
		Field struct = ArrowTypes.field("s", ArrowType.Struct.INSTANCE, ArrowTypes.field("x", ArrowTypes.INT32),
				ArrowTypes.field("x", ArrowTypes.UTF8));
		int children;
		try (RootAllocator allocator = new RootAllocator();
				GeneratedBody body = GeneratedBody.of(List.of(struct), 3, allocator, 1, 0);
				RecordBatch batch = RecordBatch.seal(new Schema(List.of(struct)), body.body(), List.of(), allocator)) {
			try (OpenBatch open = batch.open(allocator)) {
				children = open.root().getVector(0).getChildrenFromFields().size();
			}
			catch (IllegalArgumentException ex) {
				children = -1;
			}
		}
		System.exit(10 + children);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "-Darrow.struct.conflict.policy=CONFLICT_REPLACE" })
	void whenUserChoseNoPolicyThenStructsKeepChildrenOfOneName(String policy) throws Exception {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
						"--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
		if (!policy.isEmpty()) {
			command.add(policy);
		}
		command.add(StructConflictsTests.class.getName());
		Process process = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
		if (policy.isEmpty()) {
			assertThat(process.exitValue()).isEqualTo(12);
		}
		else {
			assertThat(process.exitValue()).as("the choice of the user").isNotEqualTo(12);
		}
	}

}
