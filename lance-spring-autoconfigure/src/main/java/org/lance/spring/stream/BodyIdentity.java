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

import java.util.List;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferLedger;
import org.apache.arrow.memory.ReferenceManager;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;

/**
 * Tells whether a body lies where another one lay. Compares the owners of the memory by
 * identity and keeps them on the heap, without a reference to the memory: an address may
 * come again, an owner does not.
 *
 * @param length the number of values
 * @param parts where each buffer lies
 */
record BodyIdentity(int length, List<Part> parts) {

	static BodyIdentity of(ArrowRecordBatch body) {
		return new BodyIdentity(body.getLength(), body.getBuffers().stream().map(Part::of).toList());
	}

	private static Object owner(ArrowBuf buffer) {
		ReferenceManager manager = buffer.getReferenceManager();
		return (manager instanceof BufferLedger ledger) ? ledger.getAllocationManager() : manager;
	}

	/**
	 * Where one buffer lies.
	 *
	 * @param owner the owner of the memory
	 * @param address where it starts
	 * @param length its bytes
	 */
	record Part(Object owner, long address, long length) {

		private static final Part EMPTY = new Part("empty", 0, 0);

		static Part of(ArrowBuf buffer) {
			long length = SealedBuffers.available(buffer);
			return (length != 0)
					? new Part(BodyIdentity.owner(buffer), buffer.memoryAddress() + buffer.readerIndex(), length)
					: EMPTY;
		}

		@Override
		public boolean equals(Object other) {
			return other instanceof Part part && this.owner == part.owner && this.address == part.address
					&& this.length == part.length;
		}

		@Override
		public int hashCode() {
			return Long.hashCode(this.address);
		}

	}

}
