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

package org.lance.spring;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.IntVector;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests what the build promises and no Maven plugin checks.
 */
class BuildTests {

	@Test
	void arrowMemoryIsUsable() {
		try (BufferAllocator allocator = new RootAllocator(); IntVector vector = new IntVector("v", allocator)) {
			vector.allocateNew(1);
			vector.set(0, 42);
			assertThat(vector.get(0)).isEqualTo(42);
		}
	}

	@Test
	void assertionsAreOn() {
		assertThat(BuildTests.class.desiredAssertionStatus()).isTrue();
	}

	@Test
	void everyDependencyOfTheMainCodeIsOptional() throws Exception {
		Document pom = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(Path.of("pom.xml").toFile());
		XPath path = XPathFactory.newInstance().newXPath();
		NodeList all = (NodeList) path.evaluate("/project/dependencies/dependency", pom, XPathConstants.NODESET);
		List<String> forced = new ArrayList<>();
		for (int i = 0; i < all.getLength(); i++) {
			boolean test = "test".equals(path.evaluate("scope", all.item(i)));
			boolean optional = "true".equals(path.evaluate("optional", all.item(i)));
			if (!test && !optional) {
				forced.add(path.evaluate("artifactId", all.item(i)));
			}
		}
		assertThat(all.getLength()).isPositive();
		assertThat(forced).as("dependencies that every user would be given").isEmpty();
	}

}
