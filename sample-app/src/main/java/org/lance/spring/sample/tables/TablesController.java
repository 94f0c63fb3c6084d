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

import java.net.URI;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Tables over HTTP. The body of an upload is taken from the request as it comes, never as
 * a whole.
 */
@RestController
@RequestMapping("/api/tables")
class TablesController {

	private final Uploads uploads;

	private final TableReader reader;

	TablesController(Uploads uploads, TableReader reader) {
		this.uploads = uploads;
		this.reader = reader;
	}

	@PostMapping(path = "/{name}", consumes = { ArrowMediaTypes.STREAM_VALUE, ArrowMediaTypes.FILE_VALUE })
	Mono<ResponseEntity<UploadResult>> upload(@PathVariable String name, ServerHttpRequest request) {
		TableName table = new TableName(name);
		Flux<DataBuffer> body = request.getBody();
		return this.uploads.store(table, body)
			.map((result) -> (result.created() ? ResponseEntity.created(URI.create("/api/tables/" + table))
					: ResponseEntity.ok())
				.body(result));
	}

	@GetMapping
	Flux<TableInfo> list() {
		return this.reader.list();
	}

	@GetMapping("/{name}")
	Mono<TableInfo> table(@PathVariable String name) {
		return this.reader.describe(new TableName(name));
	}

}
