package org.lance.spring.spill;

/**
 * Decides which bodies of a file are compressed.
 */
interface CompressionChoice {

	/**
	 * Tells whether the next body is compressed.
	 * @param length its bytes
	 */
	boolean compresses(long length);

	/**
	 * Says what compressing a body took.
	 */
	default void compressed(long length, long compressedLength, long nanos) {
	}

	/**
	 * Says what writing bytes took, as they were stored.
	 */
	default void written(long length, long nanos) {
	}

	static CompressionChoice of(SpillCodec codec) {
		return switch (codec) {
			case NONE -> (length) -> false;
			case ZSTD -> (length) -> true;
			case ADAPTIVE -> new AdaptiveChoice();
		};
	}

}
