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

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowPublisherVerification;
import org.testng.SkipException;
import org.testng.annotations.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rules of Reactive Streams for publishers, as their own kit tests them. The kit is
 * written for TestNG; its test methods are called one by one.
 */
class PublisherTckTests {

	/**
	 * Generous: they bound how long a signal may take on a busy machine.
	 */
	private static final long TIMEOUT_MILLIS = 3000;

	private static final long NO_SIGNAL_MILLIS = 40;

	/**
	 * What the kit has no test for, and what it leaves to publishers of several
	 * subscribers.
	 */
	private static final Set<String> SKIPPED = Set.of(
			"untested_spec106_mustConsiderSubscriptionCancelledAfterOnErrorOrOnCompleteHasBeenCalled",
			"untested_spec107_mustNotEmitFurtherSignalsOnceOnErrorHasBeenSignalled",
			"untested_spec108_possiblyCanceledSubscriptionShouldNotReceiveOnErrorOrOnCompleteSignals",
			"untested_spec109_subscribeShouldNotThrowNonFatalThrowable",
			"untested_spec110_rejectASubscriptionRequestIfTheSameSubscriberSubscribesTwice",
			"untested_spec304_requestShouldNotPerformHeavyComputations",
			"untested_spec305_cancelMustNotSynchronouslyPerformHeavyComputation",
			"optional_spec111_maySupportMultiSubscribe",
			"optional_spec111_multicast_mustProduceTheSameElementsInTheSameSequenceToAllOfItsSubscribersWhenRequestingManyUpfront",
			"optional_spec111_multicast_mustProduceTheSameElementsInTheSameSequenceToAllOfItsSubscribersWhenRequestingManyUpfrontAndCompleteAsExpected",
			"optional_spec111_multicast_mustProduceTheSameElementsInTheSameSequenceToAllOfItsSubscribersWhenRequestingOneByOne",
			"optional_spec111_registeredSubscribersMustReceiveOnNextOrOnCompleteSignals");

	private static ExecutorService pool;

	@BeforeAll
	static void start() {
		pool = Executors.newSingleThreadExecutor();
	}

	@AfterAll
	static void stop() {
		pool.shutdownNow();
	}

	@TestFactory
	Stream<DynamicContainer> whenSubscribedThenTheRulesHold() {
		BackgroundExecutor executor = new BackgroundExecutor(pool, 100_000);
		return Stream.of(
				tests("ready items",
						(size) -> AsyncIterator.from(new ReadyStep((int) Math.min(size, Integer.MAX_VALUE)))),
				tests("background, no read-ahead", (size) -> BackgroundIterator.of(numbers(size), executor, 0)),
				tests("background, read-ahead", (size) -> BackgroundIterator.of(numbers(size), executor, 4)));
	}

	private static Iterator<Integer> numbers(long size) {
		return LongStream.range(0, size).mapToObj((i) -> (int) i).iterator();
	}

	private static DynamicContainer tests(String name, LongFunction<AsyncIterator<Integer>> iterators) {
		Set<String> skipped = new TreeSet<>();
		Stream<DynamicTest> tests = Arrays.stream(Verification.class.getMethods())
			.filter((method) -> method.isAnnotationPresent(Test.class))
			.sorted(Comparator.comparing(Method::getName))
			.map((method) -> DynamicTest.dynamicTest(method.getName(), () -> run(method, iterators, skipped)));
		DynamicTest complete = DynamicTest.dynamicTest("no rule is skipped without a reason",
				() -> assertThat(skipped).containsExactlyInAnyOrderElementsOf(SKIPPED));
		return DynamicContainer.dynamicContainer(name, Stream.concat(tests, Stream.of(complete)));
	}

	private static void run(Method method, LongFunction<AsyncIterator<Integer>> iterators, Set<String> skipped)
			throws Throwable {
		Verification verification = new Verification(iterators);
		verification.setUp();
		try {
			method.invoke(verification);
		}
		catch (InvocationTargetException ex) {
			if (!(ex.getCause() instanceof SkipException)) {
				throw ex.getCause();
			}
			skipped.add(method.getName());
		}
	}

	/**
	 * The kit, for one kind of iterator.
	 */
	public static final class Verification extends FlowPublisherVerification<Integer> {

		private final LongFunction<AsyncIterator<Integer>> iterators;

		Verification(LongFunction<AsyncIterator<Integer>> iterators) {
			super(new TestEnvironment(TIMEOUT_MILLIS, NO_SIGNAL_MILLIS, NO_SIGNAL_MILLIS));
			this.iterators = iterators;
		}

		@Override
		public Flow.Publisher<Integer> createFlowPublisher(long elements) {
			return this.iterators.apply(elements);
		}

		/**
		 * One that was pulled already.
		 */
		@Override
		public Flow.Publisher<Integer> createFailedFlowPublisher() {
			AsyncIterator<Integer> pulled = this.iterators.apply(1);
			pulled.next();
			return pulled;
		}

	}

}
