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

package org.lance.spring.sample.flights;

import java.util.List;

/**
 * What the flights have in common.
 *
 * @param rows the number of flights
 * @param meanDelay the mean delay in minutes
 * @param bands the delay by distance
 */
record FlightSummary(long rows, double meanDelay, List<DistanceBand> bands) {

	/**
	 * The flights of a distance band.
	 *
	 * @param from the least distance in miles
	 * @param to the distance in miles where the next band starts, or -1 for the last band
	 * @param flights the number of flights
	 * @param meanDelay the mean delay in minutes
	 */
	record DistanceBand(int from, int to, long flights, double meanDelay) {

	}

}
