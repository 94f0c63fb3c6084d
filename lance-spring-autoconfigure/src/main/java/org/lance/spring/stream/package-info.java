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
 * Record batches and asynchronous, backpressured streams of them, which are publishers of
 * {@link java.util.concurrent.Flow} too. This room knows the JDK and Arrow, and nothing
 * else of the project.
 */
@NullMarked
package org.lance.spring.stream;

import org.jspecify.annotations.NullMarked;
