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

/**
 * A row of the table: how the time of one contender relates to that of another.
 *
 * @param title what is compared
 * @param numerator the contender whose time is divided
 * @param denominator the contender whose time it is divided by
 * @param bound what the ratio should be
 */
record Row(String title, String numerator, String denominator, Bound bound) {

	/**
	 * How many times faster than a peer.
	 */
	static Row faster(String title, String peer, String subject, double atLeast) {
		return new Row(title, peer, subject, new Bound(true, atLeast));
	}

	/**
	 * How many times the cost of another one.
	 */
	static Row cost(String title, String subject, String other, double atMost) {
		return new Row(title, subject, other, new Bound(false, atMost));
	}

	/**
	 * What a ratio should be.
	 *
	 * @param atLeast whether the value is the lowest that is good, otherwise the highest
	 * @param value the value
	 */
	record Bound(boolean atLeast, double value) {

		boolean isMet(double ratio) {
			return this.atLeast ? ratio >= this.value : ratio <= this.value;
		}

		@Override
		public String toString() {
			return (this.atLeast ? "≥ " : "≤ ") + Table.ratio(this.value);
		}

	}

}
