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
 * When the checksum of a batch read from disk is verified, before it is handed out.
 *
 * @since 0.1.0
 */
public enum Verification {

	/**
	 * Each time a reader gets it. Of a complete file that is mapped, that may be up to a
	 * second before, when it is read ahead; then it is verified again if the file was
	 * changed since, by its time of modification.
	 */
	ALWAYS,

	/**
	 * The first time any reader gets it.
	 */
	FIRST_READ,

	/**
	 * Never; the checksums of batches that are neither compressed nor encrypted are not
	 * even computed.
	 */
	NEVER

}
