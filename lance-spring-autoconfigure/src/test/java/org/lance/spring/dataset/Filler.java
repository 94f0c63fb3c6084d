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

package org.lance.spring.dataset;

import java.nio.charset.StandardCharsets;
import java.util.Random;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.BaseLargeVariableWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.BitVectorHelper;
import org.apache.arrow.vector.DateMilliVector;
import org.apache.arrow.vector.Decimal256Vector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Fills vectors of any type with random values and nulls.
 */
final class Filler {

	private static final long DAY = 86_400_000;

	private final Random random;

	private final int dictionarySize;

	Filler(long seed, int dictionarySize) {
		this.random = new Random(seed);
		this.dictionarySize = dictionarySize;
	}

	void fill(FieldVector vector, int count) {
		vector.setInitialCapacity(count);
		vector.allocateNew();
		if (vector.getField().getDictionary() != null) {
			fillIndexes(vector, count);
		}
		else if (vector instanceof StructVector struct) {
			struct.getChildrenFromFields().forEach((child) -> fill(child, count));
			for (int i = 0; i < count; i++) {
				if (isNull(vector)) {
					struct.setNull(i);
				}
				else {
					struct.setIndexDefined(i);
				}
			}
		}
		else if (vector instanceof ListVector list) {
			fillList(list, count);
		}
		else if (vector instanceof LargeListVector list) {
			fillLargeList(list, count);
		}
		else if (vector instanceof FixedSizeListVector list) {
			fill(list.getDataVector(), count * list.getListSize());
			for (int i = 0; i < count; i++) {
				if (isNull(vector)) {
					list.setNull(i);
				}
				else {
					list.setNotNull(i);
				}
			}
		}
		else if (vector instanceof BaseFixedWidthVector fixed) {
			fillFixed(fixed, count);
		}
		else if (!(vector instanceof NullVector)) {
			fillVariable(vector, count);
		}
		vector.setValueCount(count);
	}

	private boolean isNull(FieldVector vector) {
		return vector.getField().isNullable() && this.random.nextInt(5) == 0;
	}

	private void fillIndexes(FieldVector vector, int count) {
		for (int i = 0; i < count; i++) {
			if (isNull(vector)) {
				vector.setNull(i);
			}
			else {
				((BaseIntVector) vector).setWithPossibleTruncate(i, this.random.nextInt(this.dictionarySize));
			}
		}
	}

	private void fillList(ListVector list, int count) {
		int total = 0;
		for (int i = 0; i < count; i++) {
			if (isNull(list)) {
				list.setNull(i);
				continue;
			}
			int size = this.random.nextInt(4);
			list.startNewValue(i);
			list.endValue(i, size);
			total += size;
		}
		fill(list.getDataVector(), total);
	}

	private void fillLargeList(LargeListVector list, int count) {
		int total = 0;
		for (int i = 0; i < count; i++) {
			if (isNull(list)) {
				list.setNull(i);
				continue;
			}
			int size = this.random.nextInt(4);
			list.startNewValue(i);
			list.endValue(i, size);
			total += size;
		}
		fill(list.getDataVector(), total);
	}

	private void fillFixed(BaseFixedWidthVector vector, int count) {
		ArrowBuf data = vector.getDataBuffer();
		int width = vector.getTypeWidth();
		for (int i = 0; i < count; i++) {
			if (isNull(vector)) {
				vector.setNull(i);
				continue;
			}
			if (vector instanceof BitVector bits) {
				bits.set(i, this.random.nextInt(2));
				continue;
			}
			BitVectorHelper.setBit(vector.getValidityBuffer(), i);
			if (vector instanceof DateMilliVector) {
				data.setLong((long) i * width, this.random.nextInt(10_000) * DAY);
				continue;
			}
			boolean decimal = vector instanceof DecimalVector || vector instanceof Decimal256Vector;
			for (int j = 0; j < width; j++) {
				boolean small = decimal || width == 8 || width == 4;
				data.setByte((long) i * width + j, (small && j > 2) ? 0 : this.random.nextInt(100));
			}
		}
	}

	private void fillVariable(FieldVector vector, int count) {
		for (int i = 0; i < count; i++) {
			if (isNull(vector)) {
				vector.setNull(i);
				continue;
			}
			byte[] value = ("é" + Integer.toString(this.random.nextInt(1000), 36).repeat(this.random.nextInt(4)))
				.getBytes(StandardCharsets.UTF_8);
			if (vector instanceof BaseVariableWidthVector text) {
				text.setSafe(i, value);
			}
			else {
				((BaseLargeVariableWidthVector) vector).setSafe(i, value);
			}
		}
	}

}
