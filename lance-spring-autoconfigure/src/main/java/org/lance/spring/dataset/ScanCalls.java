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

import org.lance.spring.stream.BackgroundExecutor;
import org.lance.spring.stream.BackgroundIterator;
import org.lance.spring.stream.EngineFuture;
import org.lance.spring.stream.Failures;
import org.lance.spring.stream.RecordBatchStream;

/**
 * Makes streams of scans. The call that opened a scan has given its slot back, so the
 * stream needs one of its own and may be refused.
 */
final class ScanCalls {

	private ScanCalls() {
	}

	/**
	 * Makes the stream of a scan once that is open.
	 * @param opening opens the scan, taken over
	 * @param background reads the stream
	 * @return the future of the stream; one that nobody takes is closed
	 */
	static EngineFuture<RecordBatchStream> stream(EngineFuture<OpenScan> opening, BackgroundExecutor background) {
		EngineFuture<RecordBatchStream> future = new EngineFuture<>();
		opening.whenComplete((open, failure) -> {
			if (open == null) {
				future.completeExceptionally(Failures.unwrap(failure));
				return;
			}
			RecordBatchStream stream;
			try {
				stream = RecordBatchStream.background(open.schema(), open.dictionaryFields(), open, background,
						BackgroundIterator.DEFAULT_READ_AHEAD);
			}
			catch (Throwable ex) {
				open.close(ex);
				future.completeExceptionally(ex);
				return;
			}
			if (!future.complete(stream)) {
				stream.close();
			}
		});
		return future;
	}

}
