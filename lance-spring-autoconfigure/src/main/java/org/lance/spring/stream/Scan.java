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

import java.util.Arrays;

import org.apache.arrow.memory.util.MemoryUtil;

/**
 * Loops over values in memory, for {@link BatchValidator}. Nothing here checks bounds:
 * the callers have compared the buffers with the lengths before. Little-endian, as all
 * platforms of Arrow Java are.
 */
final class Scan {

	static final int VIEW_BYTES = 16;

	private static final int INLINE_BYTES = 12;

	private Scan() {
	}

	/**
	 * One value of a fixed width, sign-extended.
	 */
	static long value(long address, int width, int index) {
		long at = address + (long) index * width;
		return switch (width) {
			case 1 -> MemoryUtil.getByte(at);
			case 2 -> MemoryUtil.getShort(at);
			case 4 -> MemoryUtil.getInt(at);
			default -> MemoryUtil.getLong(at);
		};
	}

	static boolean isSet(Column column, int index) {
		return (column.validity() == 0) ? !column.allNull()
				: (MemoryUtil.getByte(column.validity() + (index >>> 3)) >>> (index & 7) & 1) != 0;
	}

	static int countSet(long bits, int length) {
		int count = 0;
		int words = length >>> 6;
		for (int i = 0; i < words; i++) {
			count += Long.bitCount(MemoryUtil.getLong(bits + ((long) i << 3)));
		}
		int position = words << 6;
		for (; position + 8 <= length; position += 8) {
			count += Integer.bitCount(MemoryUtil.getByte(bits + (position >>> 3)) & 0xff);
		}
		if (position < length) {
			int mask = (1 << (length - position)) - 1;
			count += Integer.bitCount(MemoryUtil.getByte(bits + (position >>> 3)) & mask);
		}
		return count;
	}

	/**
	 * Finds the first of {@code length + 1} offsets that is less than the one before.
	 * @return its index, or -1
	 */
	static int badOffset32(long address, int length) {
		long back = 0;
		int before = MemoryUtil.getInt(address);
		for (int i = 1; i <= length; i++) {
			int offset = MemoryUtil.getInt(address + ((long) i << 2));
			back |= (long) offset - before;
			before = offset;
		}
		return (back < 0) ? firstStepBack(address, Integer.BYTES, length) : -1;
	}

	static int badOffset64(long address, int length) {
		long back = 0;
		long before = MemoryUtil.getLong(address);
		for (int i = 1; i <= length; i++) {
			long offset = MemoryUtil.getLong(address + ((long) i << 3));
			// The difference can overflow only if one of them is negative, which is as
			// bad.
			back |= offset | (offset - before);
			before = offset;
		}
		return (back < 0) ? firstStepBack(address, Long.BYTES, length) : -1;
	}

	private static int firstStepBack(long address, int width, int length) {
		for (int i = 1; i <= length; i++) {
			if (value(address, width, i) < value(address, width, i - 1)) {
				return i;
			}
		}
		return -1;
	}

	/**
	 * Finds the first view that is longer than it can hold and leaves the data buffers.
	 * @param sizes the bytes of the data buffers
	 * @return its index, or -1
	 */
	static int badView(long views, long[] sizes, Column column) {
		return allViewsFit(views, sizes, column.length()) ? -1 : firstBadView(views, sizes, column);
	}

	/**
	 * Looks at all views without a branch, as their lengths can't be foretold: a
	 * difference that must not be negative leaves its sign in {@code bad}.
	 */
	private static boolean allViewsFit(long views, long[] sizes, int count) {
		long[] limits = (sizes.length > 0) ? sizes : new long[1];
		int last = limits.length - 1;
		long bad = 0;
		for (int i = 0; i < count; i++) {
			long view = views + (long) i * VIEW_BYTES;
			int length = MemoryUtil.getInt(view);
			int isLong = (INLINE_BYTES - length) >> 31;
			int buffer = MemoryUtil.getInt(view + 8) & isLong;
			int offset = MemoryUtil.getInt(view + 12) & isLong;
			long limit = limits[Math.min(Math.max(buffer, 0), last)];
			bad |= (long) length | buffer | offset | (last - buffer) | (limit - offset - (length & isLong));
		}
		return bad >= 0;
	}

	private static int firstBadView(long views, long[] sizes, Column column) {
		for (int i = 0; i < column.length(); i++) {
			long view = views + (long) i * VIEW_BYTES;
			int length = MemoryUtil.getInt(view);
			if (length >= 0 && length <= INLINE_BYTES) {
				continue;
			}
			int buffer = MemoryUtil.getInt(view + 8);
			int offset = MemoryUtil.getInt(view + 12);
			boolean fits = length > 0 && offset >= 0 && buffer >= 0 && buffer < sizes.length
					&& (long) offset + length <= sizes[buffer];
			if (!fits && isSet(column, i)) {
				return i;
			}
		}
		return -1;
	}

	static String describeView(long views, int index) {
		long view = views + (long) index * VIEW_BYTES;
		return "length %d, buffer %d, offset %d".formatted(MemoryUtil.getInt(view), MemoryUtil.getInt(view + 8),
				MemoryUtil.getInt(view + 12));
	}

	static int badListView(long offsets, long sizes, int width, int childLength, Column column) {
		for (int i = 0; i < column.length(); i++) {
			long offset = value(offsets, width, i);
			long size = value(sizes, width, i);
			boolean fits = offset >= 0 && size >= 0 && offset <= childLength && size <= childLength - offset;
			if (!fits && isSet(column, i)) {
				return i;
			}
		}
		return -1;
	}

	/**
	 * Finds the first map with an entry or key that is null.
	 */
	static int mapWithNull(long offsets, Column maps, Column entries, Column keys) {
		if (entries.nullCount() == 0 && keys.nullCount() == 0) {
			return -1;
		}
		for (int i = 0; i < maps.length(); i++) {
			if (!isSet(maps, i)) {
				continue;
			}
			int end = MemoryUtil.getInt(offsets + ((i + 1L) << 2));
			for (int entry = MemoryUtil.getInt(offsets + ((long) i << 2)); entry < end; entry++) {
				if (!isSet(entries, entry) || !isSet(keys, entry)) {
					return i;
				}
			}
		}
		return -1;
	}

	/**
	 * Finds the first type id that is neither one of a child nor {@code unset}.
	 */
	static int badTypeId(long ids, int length, int[] children, int unset) {
		boolean[] allowed = new boolean[256];
		for (int id = 0; id < children.length; id++) {
			allowed[id] = children[id] >= 0;
		}
		allowed[unset & 0xff] = true;
		for (int i = 0; i < length; i++) {
			if (!allowed[MemoryUtil.getByte(ids + i) & 0xff]) {
				return i;
			}
		}
		return -1;
	}

	static int badUnionOffset(long ids, long offsets, int length, int[] children, int[] lengths) {
		int[] limits = new int[256];
		Arrays.fill(limits, -1);
		for (int id = 0; id < children.length; id++) {
			limits[id] = (children[id] >= 0) ? lengths[children[id]] : -1;
		}
		for (int i = 0; i < length; i++) {
			int limit = limits[MemoryUtil.getByte(ids + i) & 0xff];
			int offset = MemoryUtil.getInt(offsets + ((long) i << 2));
			if (limit >= 0 && (offset < 0 || offset >= limit)) {
				return i;
			}
		}
		return -1;
	}

	static int badRunEnd(long ends, int width, int length) {
		long before = 0;
		for (int i = 0; i < length; i++) {
			long end = value(ends, width, i);
			if (end <= before) {
				return i;
			}
			before = end;
		}
		return -1;
	}

}
