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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.properties.HasName;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The rooms of the library: which package may use what, that nothing waits outside the
 * blocking views, and which types are public.
 */
class ArchitectureTests {

	private static final String BASE = "org.lance.spring.";

	private static final Path PUBLIC_TYPES = Path.of("src/test/resources/public-types.txt");

	private static final JavaClasses classes = new ClassFileImporter().importPath(Path.of("target/classes"));

	/**
	 * What every room may use.
	 */
	private static final String[] COMMON = { "java..", "org.jspecify.annotations..", "org.slf4j..",
			"org.apache.arrow.memory..", "org.apache.arrow.vector.." };

	private static final String DATASET_CONFIGURATION = BASE + "autoconfigure.LanceDatasetAutoConfiguration";

	private static final List<Room> ROOMS = List.of(new Room("stream", List.of()),
			// The messages of the IPC format, and the libraries of its compression.
			new Room("source", List.of("stream"), "com.google.flatbuffers..", "org.apache.arrow.flatbuf..",
					"org.apache.commons.compress..", "com.github.luben.zstd.."),
			new Room("spill", List.of("stream", "source"), "com.google.flatbuffers..", "org.apache.arrow.flatbuf..",
					"com.github.luben.zstd..", "javax.crypto..", "com.sun.management.."),
			new Room("metrics", List.of("stream", "source", "spill"), "io.micrometer.core.instrument.."),
			new Room("dataset", List.of("stream", "source"), "org.apache.arrow.c..", "org.lance", "org.lance.ipc.."),
			new Room("autoconfigure", List.of("stream", "source", "spill", "metrics", "dataset"),
					"org.springframework..", "io.micrometer.core.instrument..", "org.lance"));

	/**
	 * The blocking views, and the threads that exist to wait.
	 */
	private static final Map<String, String> MAY_BLOCK = Map.of("stream.BlockingIterator",
			"the blocking view of a stream", "stream.EngineFuture", "refuses to block, and blocks if it may");

	private static final List<Blocking> BLOCKING = List.of(new Blocking(Thread.class, "sleep", "join"),
			new Blocking(Object.class, "wait"), new Blocking(java.util.concurrent.Future.class, "get"),
			new Blocking(java.util.concurrent.CompletableFuture.class, "get", "join"),
			new Blocking(java.util.concurrent.ForkJoinTask.class, "get", "join", "invoke", "quietlyJoin"),
			new Blocking(java.util.concurrent.BlockingQueue.class, "put", "take"),
			new Blocking(java.util.concurrent.BlockingDeque.class, "putFirst", "putLast", "takeFirst", "takeLast"),
			new Blocking(java.util.concurrent.TransferQueue.class, "transfer"),
			new Blocking(java.util.concurrent.CountDownLatch.class, "await"),
			new Blocking(java.util.concurrent.CyclicBarrier.class, "await"),
			new Blocking(java.util.concurrent.Phaser.class, "arriveAndAwaitAdvance", "awaitAdvance"),
			new Blocking(java.util.concurrent.Exchanger.class, "exchange"),
			new Blocking(java.util.concurrent.Semaphore.class, "acquire", "acquireUninterruptibly", "tryAcquire"),
			new Blocking(java.util.concurrent.ExecutorService.class, "awaitTermination", "invokeAll", "invokeAny",
					"close"),
			new Blocking(java.util.concurrent.locks.Condition.class, "await", "awaitNanos", "awaitUninterruptibly",
					"awaitUntil"),
			new Blocking(java.util.concurrent.locks.LockSupport.class, "park", "parkNanos", "parkUntil"),
			new Blocking(java.util.concurrent.TimeUnit.class, "sleep", "timedJoin", "timedWait"),
			new Blocking(Process.class, "waitFor"));

	static Stream<Room> rooms() {
		return ROOMS.stream();
	}

	@ParameterizedTest
	@MethodSource("rooms")
	void whenRoomIsEnteredThenItUsesOnlyWhatItMay(Room room) {
		room.rule().check(classes);
	}

	@Test
	void whenClassIsAddedThenItIsInOneOfTheRooms() {
		String[] packages = ROOMS.stream().map((room) -> BASE + room.name() + "..").toArray(String[]::new);
		ArchRuleDefinition.classes().should().resideInAnyPackage(packages).check(classes);
	}

	@Test
	void whenRoomsUseEachOtherThenThereIsNoCycle() {
		SlicesRuleDefinition.slices().matching(BASE + "(*)..").should().beFreeOfCycles().check(classes);
	}

	/**
	 * Said again beside the rooms, so that no room is given Spring by the way.
	 */
	@Test
	void whenSpringIsUsedThenOnlyByAutoConfiguration() {
		ArchRuleDefinition.noClasses()
			.that()
			.resideOutsideOfPackage(BASE + "autoconfigure..")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("org.springframework..")
			.check(classes);
	}

	/**
	 * It is optional: whatever else refers to it may fail to load without it.
	 */
	@Test
	void whenLanceIsUsedThenOnlyByDatasetsAndTheirAutoConfiguration() {
		ArchRuleDefinition.noClasses()
			.that()
			.resideOutsideOfPackage(BASE + "dataset..")
			.and()
			.doNotHaveFullyQualifiedName(DATASET_CONFIGURATION)
			.should()
			.dependOnClassesThat(new DescribedPredicate<>("belong to lance-core") {

				@Override
				public boolean test(JavaClass type) {
					return type.getName().startsWith("org.lance.") && !type.getName().startsWith(BASE);
				}

			})
			.check(classes);
	}

	@Test
	void whenCodeIsNotABlockingViewThenItDoesNotWait() {
		noWaiting().check(classes);
	}

	@Test
	void whenBlockingViewIsListedThenItExists() {
		assertThat(MAY_BLOCK.keySet()).allMatch((name) -> classes.contain(BASE + name));
	}

	/**
	 * The rule is as good as its list of calls.
	 */
	@Test
	void whenCodeWaitsThenTheRuleSeesIt() {
		JavaClasses waiting = new ClassFileImporter().importClasses(Waiting.class);
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> noWaiting().check(waiting))
			.withMessageContaining("Thread.sleep")
			.withMessageContaining("Object.wait")
			.withMessageContaining("CompletableFuture.join")
			.withMessageContaining("LinkedBlockingQueue.take")
			.withMessageContaining("CountDownLatch.await")
			.withMessageContaining("(6 times)");
	}

	private static ArchRule noWaiting() {
		return ArchRuleDefinition.classes().that(new DescribedPredicate<>("are no blocking views") {

			@Override
			public boolean test(JavaClass type) {
				return MAY_BLOCK.keySet().stream().noneMatch((name) -> isOrIsInside(type, BASE + name));
			}

		}).should(new ArchCondition<>("not wait") {

			@Override
			public void check(JavaClass type, ConditionEvents events) {
				Stream.concat(type.getMethodCallsFromSelf().stream(), type.getMethodReferencesFromSelf().stream())
					.filter((access) -> BLOCKING.stream().anyMatch((blocking) -> blocking.matches(access)))
					.forEach((access) -> events.add(SimpleConditionEvent.violated(access, access.getDescription())));
			}

		}).because("waiting is a registered continuation, so that everything works on pools of one thread");
	}

	private static boolean isOrIsInside(JavaClass type, String name) {
		return type.getName().equals(name) || type.getName().startsWith(name + "$");
	}

	/**
	 * For a moment others could read what is made so.
	 */
	@Test
	void whenSomethingIsMadeOnTheDiskThenItIsNotMadePrivateAfterwards() {
		ArchRuleDefinition.noClasses()
			.should()
			.callMethodWhere(JavaCall.Predicates.target(HasName.Predicates
				.nameMatching("setPosixFilePermissions|setPermissions|setReadable|setWritable|setExecutable")))
			.check(classes);
	}

	@Test
	void whenTypeIsPublicThenTheListSaysWhy() throws IOException {
		Map<String, String> listed = new TreeMap<>();
		for (String line : Files.readAllLines(PUBLIC_TYPES)) {
			if (!line.isBlank() && !line.startsWith("#")) {
				String[] parts = line.split(" - ", 2);
				assertThat(parts).as("'%s' needs a name and a reason", line).hasSize(2);
				assertThat(parts[1]).as("reason of %s", parts[0]).isNotBlank();
				assertThat(listed.put(parts[0].trim(), parts[1])).as("'%s' twice", line).isNull();
			}
		}
		Set<String> compiled = new TreeSet<>();
		for (JavaClass type : classes) {
			if (type.isTopLevelClass() && type.getModifiers().contains(JavaModifier.PUBLIC)) {
				compiled.add(type.getName());
			}
		}
		assertThat(compiled).as("public types and those listed in %s", PUBLIC_TYPES)
			.containsExactlyInAnyOrderElementsOf(listed.keySet());
	}

	/**
	 * A package and what it may use besides itself, the JDK and Arrow.
	 *
	 * @param name its name
	 * @param rooms the other rooms
	 * @param libraries packages of libraries
	 */
	record Room(String name, List<String> rooms, String... libraries) {

		ArchRule rule() {
			String[] allowed = Stream
				.of(Arrays.stream(COMMON), Arrays.stream(this.libraries),
						Stream.concat(Stream.of(this.name), this.rooms.stream()).map((room) -> BASE + room + ".."))
				.flatMap((packages) -> packages)
				.toArray(String[]::new);
			return ArchRuleDefinition.classes()
				.that()
				.resideInAPackage(BASE + this.name + "..")
				.should()
				.onlyDependOnClassesThat()
				.resideInAnyPackage(allowed)
				.allowEmptyShould(true);
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

	/**
	 * Methods of a type and its subtypes that wait.
	 *
	 * @param owner the type
	 * @param methods their names
	 */
	record Blocking(Class<?> owner, String... methods) {

		boolean matches(JavaCodeUnitAccess<?> access) {
			return access.getTargetOwner().isAssignableTo(this.owner)
					&& List.of(this.methods).contains(access.getTarget().getName());
		}

	}

	/**
	 * Waits in several ways.
	 */
	static final class Waiting {

		private final java.util.concurrent.LinkedBlockingQueue<String> queue = new java.util.concurrent.LinkedBlockingQueue<>();

		void everything(java.util.concurrent.CompletableFuture<String> future,
				java.util.concurrent.CountDownLatch latch) throws Exception {
			Thread.sleep(1);
			synchronized (this.queue) {
				this.queue.wait();
			}
			future.join();
			this.queue.take();
			latch.await();
			java.util.function.Supplier<String> hidden = future::join;
			hidden.get();
		}

	}

}
