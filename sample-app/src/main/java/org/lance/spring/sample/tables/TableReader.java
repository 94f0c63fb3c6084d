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
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.apache.arrow.vector.types.pojo.Field;
import org.jspecify.annotations.Nullable;
import org.lance.spring.dataset.LanceDatasetNotFoundException;
import org.lance.spring.dataset.LanceOperations;
import org.lance.spring.dataset.LanceScan;
import org.lance.spring.stream.RecordBatchStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.stereotype.Component;

/**
 * Reads tables.
 */
@Component
class TableReader {

	private static final Logger logger = LoggerFactory.getLogger(TableReader.class);

	private final LanceOperations lance;

	private final TableDirectory tables;

	TableReader(LanceOperations lance, TableDirectory tables) {
		this.lance = lance;
		this.tables = tables;
	}

	/**
	 * Describes every table that can be read.
	 */
	Flux<TableInfo> list() {
		return this.tables.names().concatMap((name) -> describe(name).onErrorResume((failure) -> {
			logger.warn("Table '{}' is left out of the list: {}", name, failure.getMessage());
			return Mono.empty();
		}));
	}

	/**
	 * Describes a table.
	 */
	Mono<TableInfo> describe(TableName name) {
		String uri = this.tables.uri(name);
		return read(name, () -> this.lance.describe(uri)).map((table) -> new TableInfo(name.value(), table.rows(),
				table.version(), columns(table.schema().getFields())));
	}

	/**
	 * Scans a table.
	 * @param name the table's name
	 * @param limit the number of rows, or {@code null} for all
	 * @return the rows, owned by the caller
	 */
	Mono<RecordBatchStream> rows(TableName name, @Nullable Long limit) {
		LanceScan scan = (limit != null) ? LanceScan.all().limit(limit) : LanceScan.all();
		return read(name, () -> this.lance.scan(this.tables.uri(name), scan)).doOnDiscard(RecordBatchStream.class,
				RecordBatchStream::close);
	}

	private <T> Mono<T> read(TableName name, Supplier<CompletionStage<T>> action) {
		return Mono.fromCompletionStage(action)
			.onErrorMap(LanceDatasetNotFoundException.class, (ex) -> new UnknownTableException(name));
	}

	private static List<TableInfo.Column> columns(List<Field> fields) {
		return fields.stream()
			.map((field) -> new TableInfo.Column(field.getName(), type(field), field.isNullable(),
					field.getChildren().isEmpty() ? null : columns(field.getChildren())))
			.toList();
	}

	private static String type(Field field) {
		String type = field.getType().toString();
		return (field.getDictionary() != null) ? "Dictionary(" + type + ")" : type;
	}

}
