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

package org.lance.spring.dataset;

import java.time.Duration;

/**
 * What a write has done.
 *
 * @param version the version of the dataset that it committed
 * @param rows how many rows it wrote
 * @param batches how many record batches it took from the source, those without rows not
 * counted
 * @param bytes the bytes of these batches in memory, dictionaries not counted
 * @param attempts how often it tried to commit
 * @param duration how long it took, from the start of the write, without the time that it
 * waited for a thread
 * @since 0.1.0
 */
public record LanceWriteResult(long version, long rows, long batches, long bytes, int attempts, Duration duration) {

}
