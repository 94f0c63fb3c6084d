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

package org.lance.spring.spill;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;

import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;

import org.apache.arrow.memory.ArrowBuf;

/**
 * Encrypts the messages of one file by AES-256-GCM, each in chunks that end with a tag.
 * The nonce of a chunk is its position in the file, which only grows, so that none is
 * used twice; a chunk also vouches for the kind, position and length of its message. So
 * nothing can be changed, cut or put in another place.
 * <p>
 * The key is made for the file and never leaves memory. Encrypting is for one thread,
 * decrypting for any number.
 */
final class FileCipher {

	/**
	 * The bytes of a chunk without its tag. Small, because the JDK wants them on the
	 * heap: direct buffers are slower and copied there all the same.
	 */
	static final int CHUNK = 1 << 18;

	static final int TAG = 16;

	private static final int KEY = 32;

	private static final int NONCE = 12;

	private final FileKey key = newKey();

	/**
	 * Where the next chunk may be at the earliest.
	 */
	private long next;

	private static FileKey newKey() {
		byte[] bytes = new byte[KEY];
		new SecureRandom().nextBytes(bytes);
		return new FileKey(bytes);
	}

	/**
	 * Returns the bytes that a message takes in the file.
	 */
	static long storedLength(long length) {
		return length + (length + CHUNK - 1) / CHUNK * TAG;
	}

	/**
	 * Encrypts a chunk.
	 * @param message the message that it belongs to
	 * @param position where in the file it goes
	 * @param source its bytes
	 * @param target takes them, and the tag behind them
	 */
	void encrypt(Part message, long position, byte[] source, int length, byte[] target) {
		if (position < this.next) {
			throw new IllegalStateException("The file has a chunk at %d already".formatted(position));
		}
		this.next = position + length + TAG;
		try {
			cipher(Cipher.ENCRYPT_MODE, message, position).doFinal(source, 0, length, target, 0);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("This JVM can't encrypt by AES-256-GCM", ex);
		}
	}

	/**
	 * Decrypts a message.
	 * @param message which one
	 * @param source gives bytes of the file
	 * @param target takes the message
	 * @throws DamagedException if it is not what was written
	 */
	void decrypt(Part message, Source source, ArrowBuf target) throws IOException, DamagedException {
		byte[] stored = new byte[(int) Math.min(message.length, CHUNK) + TAG];
		byte[] plain = new byte[stored.length - TAG];
		long position = message.offset;
		for (long done = 0; done < message.length; done += CHUNK) {
			int length = (int) Math.min(CHUNK, message.length - done);
			source.read(position, ByteBuffer.wrap(stored, 0, length + TAG));
			try {
				cipher(Cipher.DECRYPT_MODE, message, position).doFinal(stored, 0, length + TAG, plain, 0);
			}
			catch (AEADBadTagException ex) {
				throw new DamagedException("%d bytes at %d can't be decrypted".formatted(length, position), ex);
			}
			catch (GeneralSecurityException ex) {
				throw new IllegalStateException("This JVM can't decrypt AES-256-GCM", ex);
			}
			target.setBytes(done, plain, 0, length);
			position += length + TAG;
		}
	}

	private Cipher cipher(int mode, Part message, long position) throws GeneralSecurityException {
		Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
		byte[] nonce = ByteBuffer.allocate(NONCE).putLong(NONCE - Long.BYTES, position).array();
		cipher.init(mode, this.key, new GCMParameterSpec(TAG * Byte.SIZE, nonce));
		cipher.updateAAD(ByteBuffer.allocate(Byte.BYTES + 2 * Long.BYTES)
			.put((byte) message.kind.ordinal())
			.putLong(message.offset)
			.putLong(message.length)
			.array());
		return cipher;
	}

	/**
	 * Wipes the key: nobody can read the file any more. What the JDK made of the key is
	 * left to the garbage collector. Idempotent.
	 */
	void destroy() {
		this.key.destroy();
	}

	FileKey key() {
		return this.key;
	}

	/**
	 * What a message is.
	 */
	enum Kind {

		SCHEMA, DICTIONARY, BATCH, END

	}

	/**
	 * A message of the file.
	 *
	 * @param kind what it is
	 * @param offset its first byte in the file
	 * @param length its bytes before they were encrypted
	 */
	record Part(Kind kind, long offset, long length) {

	}

	/**
	 * Gives bytes of the file.
	 */
	@FunctionalInterface
	interface Source {

		/**
		 * Fills a buffer from a position on.
		 */
		void read(long position, ByteBuffer target) throws IOException, DamagedException;

	}

}
