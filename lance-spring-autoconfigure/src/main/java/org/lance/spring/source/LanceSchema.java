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

package org.lance.spring.source;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A schema as Lance stores it: fields with ids and logical types, in depth-first order.
 *
 * @param fields the top-level fields
 * @since 0.1.0
 */
public record LanceSchema(List<LanceField> fields) {

	/**
	 * A field as Lance stores it.
	 *
	 * @param id the id, unique in the schema, depth first from 0
	 * @param parentId the id of the parent, or -1 at the top
	 * @param name the name
	 * @param logicalType the logical type as Lance writes it, such as {@code int32},
	 * {@code fixed_size_list:float:128} or {@code dict:string:int8:false}
	 * @param nullable whether it may have nulls
	 * @param dictionaryId the Arrow id of its dictionary, or {@code null}
	 * @param children the children
	 * @since 0.1.0
	 */
	public record LanceField(int id, int parentId, String name, String logicalType, boolean nullable,
			@Nullable Long dictionaryId, List<LanceField> children) {

	}

}
