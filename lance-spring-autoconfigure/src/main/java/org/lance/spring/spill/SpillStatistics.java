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

import java.time.Duration;
import java.util.Map;

/**
 * What a manager and its spills did so far and hold now. Cheap to take.
 *
 * @param active the spills open
 * @param memoryUsed the bytes that spills hold in memory
 * @param memoryLimit the bytes that they may hold together
 * @param diskUsed the bytes of disk space that spill files take, also deleted ones of
 * which batches are still held
 * @param diskLimit the bytes that they may take together, {@link Long#MAX_VALUE} without
 * a limit
 * @param files the spill files
 * @param bytesWritten the bytes written to files so far
 * @param bytesRead the bytes read from files so far
 * @param created the spills created so far
 * @param spilled the spills that went to disk so far
 * @param writes the batches written to files so far
 * @param writeTime the time that took, with that of making files
 * @param reads the batches read from files so far
 * @param readTime the time that took, with that of verifying them
 * @param failures the failures so far, by type of {@link SpillException}: its simple name
 * without {@code Spill} and {@code Exception}, in lower case with dashes. Every type is
 * there, also with 0
 * @param orphansReclaimed the directories of dead processes removed so far
 * @since 0.1.0
 */
public record SpillStatistics(long active, long memoryUsed, long memoryLimit, long diskUsed, long diskLimit, long files,
		long bytesWritten, long bytesRead, long created, long spilled, long writes, Duration writeTime, long reads,
		Duration readTime, Map<String, Long> failures, long orphansReclaimed) {

}
