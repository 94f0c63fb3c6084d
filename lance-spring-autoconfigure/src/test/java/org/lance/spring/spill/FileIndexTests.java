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

package org.lance.spring.spill;

import java.util.List;

import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.junit.jupiter.api.Test;
import org.lance.spring.spill.FileIndex.DictionaryEntry;
import org.lance.spring.spill.FileIndex.Position;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class FileIndexTests {

	private static final Field FIELD = Field.nullable("values", new ArrowType.Utf8());

	@Test
	void positionsOfAnySizeAreKept() {
		FileIndex index = new FileIndex(SpillFormat.PLAIN);
		index.commitSchema(8);
		List<Position> positions = List.of(new Position(8, 8, 0, 0), new Position(16, 1 << 30, 8, -1),
				new Position(Long.MAX_VALUE >> 8, 2_147_483_640, 300L << 30, Integer.MIN_VALUE));
		for (int i = 0; i < 5_000; i++) {
			index.commit(List.of(), null, positions.get(i % 3));
		}
		assertThat(index.batches()).isEqualTo(5_000);
		for (int i = 0; i < 5_000; i++) {
			assertThat(index.batch(i)).isEqualTo(positions.get(i % 3));
			assertThat(index.dictionaries(i)).isEmpty();
		}
		assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> index.batch(5_000));
		assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> index.batch(-1));
	}

	@Test
	void uncompressedLengthsAreKeptWhereBodiesMayBeCompressed() {
		FileIndex index = new FileIndex(new SpillFormat(SpillCompression.zstd(1), false));
		index.commitSchema(8);
		List<Position> positions = List.of(new Position(8, 8, 0, 0), new Position(16, 64, 8, 1L << 50, false, -1),
				new Position(Long.MAX_VALUE >> 8, 2_147_483_640, 300L << 30, 1, false, Integer.MIN_VALUE));
		for (int i = 0; i < 5_000; i++) {
			index.commit(List.of(new DictionaryEntry(positions.get(i % 3), -1, FIELD)), new int[] { i },
					positions.get(i % 3));
		}
		for (int i = 0; i < 5_000; i++) {
			assertThat(index.batch(i)).isEqualTo(positions.get(i % 3));
			assertThat(index.dictionary(i).position()).isEqualTo(positions.get(i % 3));
			assertThat(index.batch(i).isCompressed()).isEqualTo(i % 3 > 0);
		}
	}

	@Test
	void dictionariesAreThoseOfTheLastChange() {
		FileIndex index = new FileIndex(SpillFormat.PLAIN);
		index.commitSchema(8);
		Position position = new Position(8, 8, 8, 1);
		index.commit(List.of(new DictionaryEntry(position, -1, FIELD)), new int[] { 0 }, position);
		index.commit(List.of(), null, position);
		index.commit(List.of(new DictionaryEntry(position, 0, FIELD)), new int[] { 1 }, position);
		assertThat(List.of(0, 1, 2)).extracting((batch) -> index.dictionaries(batch)[0]).containsExactly(0, 0, 1);
		assertThat(index.dictionary(0)).isEqualTo(new DictionaryEntry(position, -1, FIELD));
		assertThat(index.dictionary(1)).isEqualTo(new DictionaryEntry(position, 0, FIELD));
	}

	/**
	 * Seven million batches are 10 GiB in batches of 1.5 KiB; the child has 256 MiB.
	 */
	@Test
	void millionsOfBatchesCostLittleHeap() throws Exception {
		assertThat(ChildJvm.run(ManyBatches.class)).contains("7000000 batches");
	}

	static final class ManyBatches implements ChildJvm.Program {

		@Override
		public void run(List<String> arguments) {
			FileIndex index = new FileIndex(SpillFormat.PLAIN);
			index.commitSchema(0);
			for (int i = 0; i < 7_000_000; i++) {
				index.commit(List.of(), null, new Position(i * 1536L, 512, 1024, i));
			}
			System.out.println(index.batches() + " batches, " + index.committed() + " bytes");
		}

	}

}
