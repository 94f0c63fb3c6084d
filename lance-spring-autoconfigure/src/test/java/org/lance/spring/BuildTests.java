package org.lance.spring;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.IntVector;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the build runs tests as they are meant to be run.
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

}
