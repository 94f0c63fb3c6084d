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

import org.jspecify.annotations.Nullable;
import org.lance.spring.dataset.LanceClosedException;
import org.lance.spring.dataset.LanceConflictException;
import org.lance.spring.dataset.LanceRejectedException;
import org.lance.spring.sample.tables.UploadShutdown.ShuttingDownException;
import org.lance.spring.source.IpcMemoryLimitException;
import org.lance.spring.source.MalformedIpcException;
import org.lance.spring.source.TruncatedIpcException;
import org.lance.spring.spill.SpillClosedException;
import org.lance.spring.spill.SpillDiskFullException;
import org.lance.spring.spill.SpillQuotaExceededException;
import org.lance.spring.stream.ArrowDataException;
import org.lance.spring.stream.SchemaMismatchException;
import org.lance.spring.stream.StreamAdmissionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Tells clients what was wrong, as problem details (RFC 9457). What the engine says about
 * bad data is meant for them; what it says about itself is logged and not shown.
 */
@RestControllerAdvice
class Problems {

	private static final Logger logger = LoggerFactory.getLogger(Problems.class);

	private static final String RETRY_AFTER_SECONDS = "5";

	/**
	 * What Spring's own handler leaves. A spill and a write wrap what failed their
	 * source: the first of the causes that says something to the client decides.
	 */
	@ExceptionHandler({ RuntimeException.class, Error.class })
	ResponseEntity<ProblemDetail> failed(Throwable failure, HttpMethod method) {
		boolean upload = method.equals(HttpMethod.POST);
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			ResponseEntity<ProblemDetail> answer = answer(cause, upload);
			if (answer != null) {
				return answer;
			}
		}
		logger.error("A request failed", failure);
		return problem(HttpStatus.INTERNAL_SERVER_ERROR,
				"The server could not do this" + (upload ? "; nothing was stored" : "") + ". Its log tells why");
	}

	private static @Nullable ResponseEntity<ProblemDetail> answer(Throwable failure, boolean upload) {
		if (failure instanceof InvalidRequestException) {
			return problem(HttpStatus.BAD_REQUEST, failure.getMessage());
		}
		if (failure instanceof UnknownTableException) {
			return problem(HttpStatus.NOT_FOUND, failure.getMessage());
		}
		if (failure instanceof UploadBrokenOffException) {
			// Most likely nobody reads the answer any more.
			logger.info("An upload was not stored: {} ({})", failure.getMessage(), String.valueOf(failure.getCause()));
			return problem(HttpStatus.BAD_REQUEST, failure.getMessage());
		}
		if (failure instanceof ArrowDataException data) {
			return problem(statusOf(data), failure.getMessage());
		}
		if (failure instanceof LanceConflictException) {
			return problem(HttpStatus.CONFLICT,
					"Another write to this table won; nothing was stored, so it can be sent again");
		}
		if (failure instanceof SpillDiskFullException || failure instanceof SpillQuotaExceededException) {
			logger.warn("An upload was refused", failure);
			return problem(HttpStatus.INSUFFICIENT_STORAGE, "The server has no room for this upload");
		}
		if (failure instanceof ShuttingDownException || failure instanceof SpillClosedException
				|| failure instanceof LanceClosedException) {
			return busy("The server is shutting down", upload);
		}
		if (failure instanceof StreamAdmissionException || failure instanceof LanceRejectedException) {
			return busy("The server is busy", upload);
		}
		return null;
	}

	private static HttpStatus statusOf(ArrowDataException failure) {
		if (failure instanceof MalformedIpcException || failure instanceof TruncatedIpcException) {
			return HttpStatus.BAD_REQUEST;
		}
		if (failure instanceof SchemaMismatchException) {
			return HttpStatus.CONFLICT;
		}
		if (failure instanceof IpcMemoryLimitException) {
			return HttpStatus.CONTENT_TOO_LARGE;
		}
		return HttpStatus.UNPROCESSABLE_CONTENT;
	}

	private static ResponseEntity<ProblemDetail> busy(String reason, boolean upload) {
		String detail = reason + (upload ? "; nothing was stored, so it can be sent again" : "; try again later");
		return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE)
			.header("Retry-After", RETRY_AFTER_SECONDS)
			.body(ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, detail));
	}

	private static ResponseEntity<ProblemDetail> problem(HttpStatus status, @Nullable String detail) {
		return ResponseEntity.status(status).body(ProblemDetail.forStatusAndDetail(status, detail));
	}

}
