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

import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.apache.arrow.memory.OutOfMemoryException;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.ArrowDataException;

/**
 * Turns whatever malformed data provoke, in flatbuffers and in Arrow, into one family of
 * exceptions.
 */
final class IpcFailures {

	private IpcFailures() {
	}

	/**
	 * Runs a step of the decoder.
	 * @param action the step
	 * @param position where the message starts that it is about
	 * @return what the step returns
	 * @throws ArrowDataException if the step fails, with the original as its cause
	 */
	static <R extends @Nullable Object> R translate(Supplier<R> action, LongSupplier position) {
		try {
			return action.get();
		}
		catch (ArrowDataException ex) {
			throw ex;
		}
		catch (OutOfMemoryException ex) {
			throw noMemory(position, "Raise 'lance.memory.limit'", ex);
		}
		catch (OutOfMemoryError ex) {
			throw noMemory(position, "Give the JVM more memory", ex);
		}
		catch (RuntimeException | StackOverflowError ex) {
			throw new MalformedIpcException(
					"The message at byte %d is malformed: %s".formatted(position.getAsLong(), ex), ex);
		}
	}

	private static IpcMemoryLimitException noMemory(LongSupplier position, String advice, Throwable cause) {
		return new IpcMemoryLimitException(
				"The message at byte %d does not fit into the memory that is left: %s. %s, or write smaller batches"
					.formatted(position.getAsLong(), cause.getMessage(), advice),
				cause);
	}

}
