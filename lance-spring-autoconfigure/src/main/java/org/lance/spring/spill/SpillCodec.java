package org.lance.spring.spill;

/**
 * How batches are compressed that are written to disk.
 *
 * @since 0.1.0
 */
public enum SpillCodec {

	/**
	 * Not at all.
	 */
	NONE,

	/**
	 * By ZSTD.
	 */
	ZSTD

}
