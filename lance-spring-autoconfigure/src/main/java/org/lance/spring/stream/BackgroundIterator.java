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

package org.lance.spring.stream;

import java.util.Iterator;

/**
 * Pulls a blocking iterator on a bounded executor, so that no caller ever blocks.
 * <p>
 * Each step runs on the executor and owns the iterator while it runs; the iterator is
 * never touched by two threads at once and never under a lock. An exception or error of
 * the iterator reaches the caller as it is, after the items read before it; then the
 * iteration has ended. An iterator that is {@link AutoCloseable} is closed exactly once:
 * at its end, after its failure, or after {@link #close()} as soon as no step is running.
 * Its size hint is known if it is a {@link SizeHint.Provider}.
 * <p>
 * Counterpart of {@code BackgroundIterator} of Lance's DataFusion integration, which
 * keeps one step per hop and has no read-ahead and no admission.
 * <p>
 * <b>Threads.</b> As of any {@link AsyncIterator}. The blocking iterator is asked and
 * closed on threads of the executor; once that is shut down, whoever notices closes it.
 *
 * @param <T> the type of the items
 * @since 0.1.0
 */
public final class BackgroundIterator<T> extends StepIterator<T> {

	/**
	 * How many items are read before they are asked for, unless said otherwise.
	 */
	public static final int DEFAULT_READ_AHEAD = 1;

	private BackgroundIterator(BackgroundStep<T> step) {
		super(step);
		step.opened(this);
	}

	/**
	 * Opens a stream with the default read-ahead.
	 * @param <T> the type of the items
	 * @param iterator the iterator, owned by the stream unless this method throws
	 * @param executor runs the steps
	 * @return the stream
	 * @throws StreamAdmissionException if the executor takes no more streams
	 */
	public static <T> BackgroundIterator<T> of(Iterator<? extends T> iterator, BackgroundExecutor executor) {
		return of(iterator, executor, DEFAULT_READ_AHEAD);
	}

	/**
	 * Opens a stream.
	 * @param <T> the type of the items
	 * @param iterator the iterator, owned by the stream unless this method throws
	 * @param executor runs the steps
	 * @param readAhead how many items are read before they are asked for, 0 or more;
	 * nothing is read before the first item was asked for
	 * @return the stream
	 * @throws StreamAdmissionException if the executor takes no more streams
	 */
	public static <T> BackgroundIterator<T> of(Iterator<? extends T> iterator, BackgroundExecutor executor,
			int readAhead) {
		return new BackgroundIterator<>(BackgroundStep.admitted(iterator, executor, readAhead));
	}

}
