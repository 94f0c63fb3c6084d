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

/**
 * Replay spills: a one-shot stream that can be read again by many readers, in memory up
 * to a limit, then in a file. This room uses {@code stream}, {@code source}, the JDK
 * (with its cryptography), Arrow (with the tables of its IPC format) and, if files are
 * compressed, zstd-jni.
 */
@NullMarked
package org.lance.spring.spill;

import org.jspecify.annotations.NullMarked;
