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
	ZSTD,

	/**
	 * By ZSTD where that makes writing faster, as measured on the way for each file: on
	 * slow disks, and not where data don't get smaller.
	 */
	ADAPTIVE

}
