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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.lance.spring.sample.SampleProperties;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

import org.springframework.stereotype.Component;

/**
 * Where the tables are: a directory each, named as LanceDB's clients expect it.
 *
 * @since 0.1.0
 */
@Component
public class TableDirectory {

	private static final String SUFFIX = ".lance";

	private final Path directory;

	TableDirectory(SampleProperties properties) {
		this.directory = Path.of(properties.dataDirectory()).toAbsolutePath().normalize();
	}

	/**
	 * Returns where a table is, or would be.
	 * @param name the table's name
	 * @return the URI for Lance
	 */
	public String uri(TableName name) {
		return this.directory.resolve(name + SUFFIX).toString();
	}

	/**
	 * Lists what looks like a table, on a thread that may block.
	 * @return the names, sorted
	 */
	Flux<TableName> names() {
		return Flux.defer(() -> Flux.fromIterable(list())).subscribeOn(Schedulers.boundedElastic());
	}

	private List<TableName> list() {
		List<TableName> names = new ArrayList<>();
		if (Files.isDirectory(this.directory)) {
			try (DirectoryStream<Path> tables = Files.newDirectoryStream(this.directory, "*" + SUFFIX)) {
				for (Path table : tables) {
					String file = table.getFileName().toString();
					String name = file.substring(0, file.length() - SUFFIX.length());
					if (TableName.isAllowed(name)) {
						names.add(new TableName(name));
					}
				}
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		names.sort((first, second) -> first.value().compareTo(second.value()));
		return names;
	}

}
