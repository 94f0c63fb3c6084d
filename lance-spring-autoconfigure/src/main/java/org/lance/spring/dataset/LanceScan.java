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

import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/**
 * What to read of a dataset. Immutable; the methods give changed copies:
 * {@code LanceScan.all().columns("id", "name").limit(10)}.
 *
 * @param columns the columns to read, in this order, or an empty list for all of them; a
 * field of a struct is {@code parent.child}
 * @param filter a SQL expression that rows must fulfil, or {@code null}
 * @param limit the greatest number of rows, 0 or more
 * @param batchSize the greatest number of rows of one batch, 1 or more; Lance's own
 * choice if empty
 * @since 0.1.0
 */
public record LanceScan(List<String> columns, @Nullable String filter, OptionalLong limit, OptionalInt batchSize) {

	private static final LanceScan ALL = new LanceScan(List.of(), null, OptionalLong.empty(), OptionalInt.empty());

	/*
	 * Native code takes numbers as they are, and some values end the JVM.
	 */
	public LanceScan {
		columns = List.copyOf(columns);
		if (columns.stream().anyMatch((column) -> column.isBlank() || column.indexOf('\0') >= 0)) {
			throw new IllegalArgumentException("'columns' must not contain a blank name, but was " + columns);
		}
		if (filter != null && (filter.isBlank() || filter.indexOf('\0') >= 0)) {
			throw new IllegalArgumentException("'filter' must be a SQL expression, but was '" + filter + "'");
		}
		if (limit.isPresent() && limit.getAsLong() < 0) {
			throw new IllegalArgumentException("'limit' must be 0 or more, but was " + limit.getAsLong());
		}
		if (batchSize.isPresent() && batchSize.getAsInt() < 1) {
			throw new IllegalArgumentException("'batchSize' must be 1 or more, but was " + batchSize.getAsInt());
		}
	}

	/**
	 * Reads all rows and columns.
	 * @return the scan
	 */
	public static LanceScan all() {
		return ALL;
	}

	/**
	 * Reads only some columns.
	 * @param names the columns, in this order
	 * @return a changed copy
	 */
	public LanceScan columns(String... names) {
		return new LanceScan(List.of(names), this.filter, this.limit, this.batchSize);
	}

	/**
	 * Reads only some rows.
	 * @param expression a SQL expression, such as {@code distance > 1000}
	 * @return a changed copy
	 */
	public LanceScan filter(String expression) {
		return new LanceScan(this.columns, expression, this.limit, this.batchSize);
	}

	/**
	 * Reads not more than some rows.
	 * @param rows the greatest number of rows, 0 or more
	 * @return a changed copy
	 */
	public LanceScan limit(long rows) {
		return new LanceScan(this.columns, this.filter, OptionalLong.of(rows), this.batchSize);
	}

	/**
	 * Bounds the size of a batch.
	 * @param rows the greatest number of rows of one batch, 1 or more
	 * @return a changed copy
	 */
	public LanceScan batchSize(int rows) {
		return new LanceScan(this.columns, this.filter, this.limit, OptionalInt.of(rows));
	}

}
