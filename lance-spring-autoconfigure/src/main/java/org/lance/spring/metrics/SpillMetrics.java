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

package org.lance.spring.metrics;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToLongFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.lance.spring.spill.SpillManager;
import org.lance.spring.spill.SpillStatistics;

/**
 * Meters of replay spills. Keep the binder as long as its registry: meters hold weak
 * references to what they measure.
 *
 * @since 0.1.0
 */
public final class SpillMetrics implements MeterBinder {

	private final SpillManager spills;

	/**
	 * Creates the binder.
	 * @param spills the manager whose spills to measure
	 */
	public SpillMetrics(SpillManager spills) {
		this.spills = spills;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		gauge(registry, "lance.spill.active", "spills", "Spills that are open", SpillStatistics::active);
		gauge(registry, "lance.spill.memory.used", BaseUnits.BYTES, "Memory that spills hold",
				SpillStatistics::memoryUsed);
		gauge(registry, "lance.spill.memory.limit", BaseUnits.BYTES, "Memory that spills may hold",
				SpillStatistics::memoryLimit);
		gauge(registry, "lance.spill.disk.used", BaseUnits.BYTES, "Disk space that spill files hold",
				SpillStatistics::diskUsed);
		gauge(registry, "lance.spill.disk.limit", BaseUnits.BYTES,
				"Disk space that spill files may hold, the largest number if there is no limit",
				SpillStatistics::diskLimit);
		gauge(registry, "lance.spill.files", BaseUnits.FILES, "Spill files", SpillStatistics::files);
		counter(registry, "lance.spill.written", BaseUnits.BYTES, "Data written to spill files",
				SpillStatistics::bytesWritten);
		counter(registry, "lance.spill.read", BaseUnits.BYTES, "Data read from spill files",
				SpillStatistics::bytesRead);
		counter(registry, "lance.spill.created", "spills", "Spills created", SpillStatistics::created);
		counter(registry, "lance.spill.spilled", "spills", "Spills that went to disk", SpillStatistics::spilled);
		timer(registry, "lance.spill.writes", "Batches written to spill files", SpillStatistics::writes,
				SpillStatistics::writeTime);
		timer(registry, "lance.spill.reads", "Batches read from spill files", SpillStatistics::reads,
				SpillStatistics::readTime);
		counter(registry, "lance.spill.orphans.reclaimed", "directories",
				"Spill directories of dead processes that were removed", SpillStatistics::orphansReclaimed);
		for (String type : this.spills.statistics().failures().keySet()) {
			FunctionCounter.builder("lance.spill.failures", this.spills, (spills) -> failures(spills, type))
				.description("Spills that failed")
				.baseUnit("failures")
				.tag("type", type)
				.register(registry);
		}
	}

	private static double failures(SpillManager spills, String type) {
		return spills.statistics().failures().getOrDefault(type, 0L);
	}

	private void timer(MeterRegistry registry, String name, String description, ToLongFunction<SpillStatistics> count,
			Function<SpillStatistics, Duration> time) {
		FunctionTimer
			.builder(name, this.spills, (spills) -> count.applyAsLong(spills.statistics()),
					(spills) -> time.apply(spills.statistics()).toNanos(), TimeUnit.NANOSECONDS)
			.description(description)
			.register(registry);
	}

	private void gauge(MeterRegistry registry, String name, String unit, String description,
			ToLongFunction<SpillStatistics> value) {
		Gauge.builder(name, this.spills, (spills) -> value.applyAsLong(spills.statistics()))
			.description(description)
			.baseUnit(unit)
			.register(registry);
	}

	private void counter(MeterRegistry registry, String name, String unit, String description,
			ToLongFunction<SpillStatistics> value) {
		FunctionCounter.builder(name, this.spills, (spills) -> value.applyAsLong(spills.statistics()))
			.description(description)
			.baseUnit(unit)
			.register(registry);
	}

}
