package org.lance.spring.spill;

import java.util.Arrays;

import javax.crypto.SecretKey;

/**
 * The key of one file. Lives in memory only, and can be wiped, which those of the JDK
 * can't.
 */
final class FileKey implements SecretKey {

	private static final long serialVersionUID = 1L;

	private final transient byte[] bytes;

	private transient volatile boolean destroyed;

	/**
	 * Creates a key.
	 * @param bytes its bytes, taken over
	 */
	FileKey(byte[] bytes) {
		this.bytes = bytes;
	}

	@Override
	public String getAlgorithm() {
		return "AES";
	}

	@Override
	public String getFormat() {
		return "RAW";
	}

	@Override
	public byte[] getEncoded() {
		if (this.destroyed) {
			throw new IllegalStateException("The key of this spill file was wiped");
		}
		return this.bytes.clone();
	}

	@Override
	public void destroy() {
		this.destroyed = true;
		Arrays.fill(this.bytes, (byte) 0);
	}

	@Override
	public boolean isDestroyed() {
		return this.destroyed;
	}

}
