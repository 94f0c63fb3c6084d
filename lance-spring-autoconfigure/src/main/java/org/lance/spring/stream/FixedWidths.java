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

import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;

/**
 * How many bits a value of a fixed-width type takes.
 */
final class FixedWidths {

	private FixedWidths() {
	}

	/**
	 * Returns the bits per value.
	 * @param type the type
	 * @return the bits, or -1 if Arrow Java has no vector for the type
	 */
	static int bits(ArrowType type) {
		return switch (type.getTypeID()) {
			case Bool -> 1;
			case Int -> oneOf(((ArrowType.Int) type).getBitWidth(), 8, 16, 32, 64);
			case FloatingPoint -> switch (((ArrowType.FloatingPoint) type).getPrecision()) {
				case HALF -> 16;
				case SINGLE -> 32;
				case DOUBLE -> 64;
			};
			case Decimal -> oneOf(((ArrowType.Decimal) type).getBitWidth(), 128, 256);
			case FixedSizeBinary -> bytes(((ArrowType.FixedSizeBinary) type).getByteWidth());
			case Date -> (((ArrowType.Date) type).getUnit() == DateUnit.DAY) ? 32 : 64;
			case Time -> oneOf(((ArrowType.Time) type).getBitWidth(), 32, 64);
			case Timestamp, Duration -> 64;
			case Interval -> switch (((ArrowType.Interval) type).getUnit()) {
				case YEAR_MONTH -> 32;
				case DAY_TIME -> 64;
				case MONTH_DAY_NANO -> 128;
			};
			default -> -1;
		};
	}

	private static int oneOf(int bits, int... allowed) {
		for (int candidate : allowed) {
			if (bits == candidate) {
				return bits;
			}
		}
		return -1;
	}

	private static int bytes(int width) {
		return (width >= 0 && width <= Integer.MAX_VALUE / 8) ? width * 8 : -1;
	}

}
