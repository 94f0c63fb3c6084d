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

import java.util.ArrayList;
import java.util.List;

import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.RecordBatchStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.MimeTypeUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.NotAcceptableStatusException;

/**
 * Rows of a table, as JSON or as an Arrow stream. They are read as the client takes them;
 * a client that goes away ends the scan.
 */
@RestController
class RowsController {

	private static final List<MediaType> PRODUCED = List.of(MediaType.APPLICATION_JSON, ArrowMediaTypes.STREAM);

	private final TableReader reader;

	private final ObjectWriter writer;

	private final BufferAllocator allocator;

	RowsController(TableReader reader, JsonMapper mapper, BufferAllocator allocator) {
		this.reader = reader;
		this.writer = mapper.writer();
		this.allocator = allocator;
	}

	@GetMapping("/api/tables/{name}/rows")
	Mono<Void> rows(@PathVariable String name, @RequestParam(required = false) @Nullable String limit,
			ServerHttpRequest request, ServerHttpResponse response) {
		MediaType type = negotiate(request);
		return this.reader.rows(new TableName(name), limit(limit))
			.flatMap((stream) -> Mono.using(() -> stream, (open) -> {
				response.getHeaders().setContentType(type);
				return response.writeWith(body(open, type, response.bufferFactory()));
			}, RecordBatchStream::close));
	}

	private Flux<DataBuffer> body(RecordBatchStream stream, MediaType type, DataBufferFactory buffers) {
		return type.equals(ArrowMediaTypes.STREAM) ? ArrowRows.of(stream, buffers)
				: JsonRows.of(stream, this.writer, this.allocator, buffers);
	}

	/**
	 * Not by two methods with different {@code produces}: between those, a client that
	 * takes anything would be an ambiguity.
	 */
	private static MediaType negotiate(ServerHttpRequest request) {
		List<MediaType> accepted = new ArrayList<>(request.getHeaders().getAccept());
		if (accepted.isEmpty()) {
			return PRODUCED.get(0);
		}
		MimeTypeUtils.sortBySpecificity(accepted);
		for (MediaType range : accepted) {
			for (MediaType produced : PRODUCED) {
				if (range.includes(produced)) {
					return produced;
				}
			}
		}
		throw new NotAcceptableStatusException(PRODUCED);
	}

	private static @Nullable Long limit(@Nullable String limit) {
		if (limit == null) {
			return null;
		}
		try {
			long rows = Long.parseLong(limit);
			if (rows >= 0) {
				return rows;
			}
		}
		catch (NumberFormatException ex) {
			// Said below.
		}
		throw new InvalidRequestException("The limit is a number of rows, 0 or more");
	}

}
