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

/**
 * Lets structs have several children of one name, as the format does: by default Arrow
 * Java loses all but one of them, or fails. It reads the policy from a system property
 * when its first struct class is initialised, so this has to come before.
 * <p>
 * Public for the other packages of this library only; may change in any release.
 *
 * @since 0.1.0
 */
public final class StructConflicts {

	private static final String PROPERTY = "arrow.struct.conflict.policy";

	private static final String ENVIRONMENT = "ARROW_STRUCT_CONFLICT_POLICY";

	private static final String APPEND = "CONFLICT_APPEND";

	private StructConflicts() {
	}

	/**
	 * Sets the policy, unless the user chose one. Without effect once a struct vector was
	 * made.
	 */
	public static void allow() {
		if (System.getenv(ENVIRONMENT) == null && System.getProperty(PROPERTY) == null) {
			System.setProperty(PROPERTY, APPEND);
		}
	}

}
