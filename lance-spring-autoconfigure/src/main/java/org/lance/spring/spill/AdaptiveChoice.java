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

/**
 * Decides for each body whether it is compressed, from how long writing and compressing
 * took so far: compressed as long as that makes writing a byte cheaper. The other way is
 * tried on one body in {@value #PROBE_EVERY}, and taken only if it is clearly cheaper, so
 * that noise does not make it change all the time.
 * <p>
 * One thread at a time.
 */
final class AdaptiveChoice implements CompressionChoice {

	/**
	 * Smaller bodies are neither compressed nor measured: what they cost is the call.
	 */
	static final int SMALL = 16 * 1024;

	static final int PROBE_EVERY = 32;

	/**
	 * What the other way may cost at most, of what the present one does.
	 */
	private static final double CLEARLY_CHEAPER = 0.8;

	private final Average write = new Average();

	private final Average compression = new Average();

	private final Average ratio = new Average();

	private boolean compressing;

	private int sinceProbe;

	/**
	 * Without a measurement of both ways, they are tried one after the other.
	 */
	@Override
	public boolean compresses(long length) {
		if (length < SMALL) {
			return false;
		}
		if (!this.write.known) {
			return false;
		}
		if (!this.ratio.known) {
			return true;
		}
		double plain = this.write.value;
		double compressed = this.compression.value + this.ratio.value * this.write.value;
		double present = this.compressing ? compressed : plain;
		double other = this.compressing ? plain : compressed;
		if (other < present * CLEARLY_CHEAPER) {
			this.compressing = !this.compressing;
			this.sinceProbe = 0;
		}
		this.sinceProbe++;
		if (this.sinceProbe == PROBE_EVERY) {
			this.sinceProbe = 0;
			return !this.compressing;
		}
		return this.compressing;
	}

	@Override
	public void compressed(long length, long compressedLength, long nanos) {
		this.compression.add((double) nanos / length);
		this.ratio.add((double) compressedLength / length);
	}

	@Override
	public void written(long length, long nanos) {
		if (length >= SMALL) {
			this.write.add((double) nanos / length);
		}
	}

	/**
	 * An average that forgets: the disk of a minute ago may be another one.
	 */
	private static final class Average {

		private static final double WEIGHT = 0.25;

		private boolean known;

		private double value;

		void add(double sample) {
			this.value = this.known ? this.value + WEIGHT * (sample - this.value) : sample;
			this.known = true;
		}

	}

}
