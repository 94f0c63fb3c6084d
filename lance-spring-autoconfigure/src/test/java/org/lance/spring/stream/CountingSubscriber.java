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

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;

/**
 * A subscriber that asks for one item after the other and counts them.
 */
class CountingSubscriber implements Flow.Subscriber<Object> {

	final CompletableFuture<Integer> done = new CompletableFuture<>();

	Flow.Subscription subscription;

	int count;

	@Override
	public void onSubscribe(Flow.Subscription subscription) {
		this.subscription = subscription;
		subscription.request(1);
	}

	@Override
	public void onNext(Object item) {
		this.count++;
		this.subscription.request(1);
	}

	@Override
	public void onError(Throwable failure) {
		this.done.completeExceptionally(failure);
	}

	@Override
	public void onComplete() {
		this.done.complete(this.count);
	}

}
