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

package org.lance.spring.sample.tables;

import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import org.jspecify.annotations.Nullable;

/**
 * What a table holds.
 *
 * @param table the table
 * @param rows the number of rows
 * @param version the latest version
 * @param schema the columns
 */
record TableInfo(String table, long rows, long version, List<Column> schema) {

	/**
	 * A column, or a field inside one.
	 *
	 * @param name the name
	 * @param type the type as Arrow calls it
	 * @param nullable whether it may have nulls
	 * @param children the fields inside, or {@code null} if there are none
	 */
	record Column(String name, String type, boolean nullable,
			@JsonInclude(Include.NON_NULL) @Nullable List<Column> children) {

	}

}
