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

import org.apache.arrow.memory.util.MemoryUtil;
import org.apache.arrow.vector.types.pojo.ArrowType;

/**
 * Looks for the highest index into a dictionary, 64 slots at a time. As {@link Scan},
 * checks no bounds.
 */
final class IndexScan {

	/**
	 * The highest index of a column without any.
	 */
	static final long NO_INDEX = -1;

	private final long address;

	private final int width;

	/**
	 * Takes the sign off what {@link Scan#value} reads of an unsigned type.
	 */
	private final long mask;

	private long highest = NO_INDEX;

	/**
	 * All indexes, or-ed: negative if one of them is.
	 */
	private long signs;

	private IndexScan(long address, ArrowType.Int type) {
		this.address = address;
		this.width = type.getBitWidth() / 8;
		this.mask = (type.getIsSigned() || this.width == Long.BYTES) ? -1 : (1L << type.getBitWidth()) - 1;
	}

	/**
	 * Finds the highest index of the slots that are not null.
	 * @return the index, {@link #NO_INDEX} for none, or less if one is negative (or needs
	 * 64 bits)
	 */
	static long highest(long address, ArrowType.Int type, Column column) {
		IndexScan scan = new IndexScan(address, type);
		if (column.validity() == 0) {
			scan.all(0, column.allNull() ? 0 : column.length());
		}
		else {
			scan.valid(column);
		}
		return (scan.signs < 0) ? Long.MIN_VALUE : scan.highest;
	}

	private void valid(Column column) {
		for (int from = 0; from < column.length(); from += Long.SIZE) {
			int count = Math.min(Long.SIZE, column.length() - from);
			long bits = bits(column.validity() + (from >>> 3), count);
			if (bits == -1L >>> (Long.SIZE - count)) {
				all(from, from + count);
				continue;
			}
			for (; bits != 0; bits &= bits - 1) {
				long index = Scan.value(this.address, this.width, from + Long.numberOfTrailingZeros(bits)) & this.mask;
				this.signs |= index;
				this.highest = Math.max(this.highest, index);
			}
		}
	}

	private static long bits(long address, int count) {
		if (count == Long.SIZE) {
			return MemoryUtil.getLong(address);
		}
		long bits = 0;
		for (int i = 0; i < count; i += 8) {
			bits |= (MemoryUtil.getByte(address + (i >>> 3)) & 0xffL) << i;
		}
		return bits & (-1L >>> (Long.SIZE - count));
	}

	/**
	 * A loop for each width, so that the width is not asked for with each value.
	 */
	private void all(int from, int to) {
		long max = this.highest;
		long or = this.signs;
		switch (this.width) {
			case 1 -> {
				for (int i = from; i < to; i++) {
					long index = MemoryUtil.getByte(this.address + i) & this.mask;
					or |= index;
					max = Math.max(max, index);
				}
			}
			case 2 -> {
				for (int i = from; i < to; i++) {
					long index = MemoryUtil.getShort(this.address + ((long) i << 1)) & this.mask;
					or |= index;
					max = Math.max(max, index);
				}
			}
			case 4 -> {
				for (int i = from; i < to; i++) {
					long index = MemoryUtil.getInt(this.address + ((long) i << 2)) & this.mask;
					or |= index;
					max = Math.max(max, index);
				}
			}
			default -> {
				for (int i = from; i < to; i++) {
					long index = MemoryUtil.getLong(this.address + ((long) i << 3));
					or |= index;
					max = Math.max(max, index);
				}
			}
		}
		this.highest = max;
		this.signs = or;
	}

}
