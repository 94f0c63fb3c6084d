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

import java.util.OptionalLong;

/**
 * How many items are still to come: at least {@code lower}, and at most {@code upper}
 * where that is known. The counterpart of the size hint of a Rust iterator.
 *
 * @param lower the least number of items still to come, 0 or more
 * @param upper the greatest number of items still to come, or empty when unknown
 * @since 0.1.0
 */
public record SizeHint(long lower, OptionalLong upper) {

	/**
	 * Nothing is known.
	 */
	public static final SizeHint UNKNOWN = new SizeHint(0, OptionalLong.empty());

	public SizeHint {
		if (lower < 0 || (upper.isPresent() && upper.getAsLong() < lower)) {
			throw new IllegalArgumentException(
					"A size hint needs 0 <= lower <= upper, but was lower=%d, upper=%s".formatted(lower, upper));
		}
	}

	/**
	 * Returns the hint for exactly {@code count} items.
	 * @param count the number of items
	 * @return the hint
	 */
	public static SizeHint exactly(long count) {
		return new SizeHint(count, OptionalLong.of(count));
	}

	/**
	 * Returns this hint with {@code count} items more, saturating.
	 * @param count the number of items to add
	 * @return the hint
	 */
	public SizeHint plus(long count) {
		if (count == 0) {
			return this;
		}
		return new SizeHint(saturated(this.lower, count),
				this.upper.isPresent() ? OptionalLong.of(saturated(this.upper.getAsLong(), count)) : this.upper);
	}

	private static long saturated(long value, long count) {
		long sum = value + count;
		return (sum < 0) ? Long.MAX_VALUE : sum;
	}

	/**
	 * Implemented by iterators that know how many items they still have.
	 *
	 * @since 0.1.0
	 */
	public interface Provider {

		/**
		 * Returns the hint for the items still to come. Called only by the thread that
		 * owns the iterator.
		 * @return the hint
		 */
		SizeHint sizeHint();

	}

}
