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

package org.lance.spring.sample.tables;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;

import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DateMilliVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.TimeMicroVector;
import org.apache.arrow.vector.TimeMilliVector;
import org.apache.arrow.vector.TimeNanoVector;
import org.apache.arrow.vector.TimeSecVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.jspecify.annotations.Nullable;

/**
 * Dates and times as ISO 8601 text: of a timestamp with a zone with its offset, of one
 * without a zone without any. A value that is no time, such as the 25th hour, stays the
 * number that it is.
 */
final class JsonTimes {

	private JsonTimes() {
	}

	/**
	 * Reads a date or a time.
	 * @param vector the vector
	 * @param index the position of a value that is not null
	 * @return the text or number, or {@code null} if the vector has other values
	 */
	static @Nullable Object of(FieldVector vector, int index) {
		if (vector instanceof DateDayVector days) {
			return LocalDate.ofEpochDay(days.get(index)).toString();
		}
		if (vector instanceof DateMilliVector millis) {
			return text(millis.get(index), ChronoUnit.MILLIS, ZoneOffset.UTC, DateTimeFormatter.ISO_LOCAL_DATE);
		}
		if (vector instanceof TimeSecVector seconds) {
			return time(seconds.get(index), 1_000_000_000);
		}
		if (vector instanceof TimeMilliVector millis) {
			return time(millis.get(index), 1_000_000);
		}
		if (vector instanceof TimeMicroVector micros) {
			return time(micros.get(index), 1000);
		}
		if (vector instanceof TimeNanoVector nanos) {
			return time(nanos.get(index), 1);
		}
		if (vector instanceof TimeStampVector timestamps) {
			ArrowType.Timestamp type = (ArrowType.Timestamp) vector.getField().getType();
			ZoneId zone = zone(type.getTimezone());
			return text(timestamps.get(index), unit(type.getUnit()), (zone != null) ? zone : ZoneOffset.UTC,
					(zone != null) ? DateTimeFormatter.ISO_OFFSET_DATE_TIME : DateTimeFormatter.ISO_LOCAL_DATE_TIME);
		}
		return null;
	}

	private static Object time(long value, long nanos) {
		try {
			return DateTimeFormatter.ISO_LOCAL_TIME.format(LocalTime.ofNanoOfDay(Math.multiplyExact(value, nanos)));
		}
		catch (DateTimeException | ArithmeticException ex) {
			return value;
		}
	}

	private static Object text(long value, ChronoUnit unit, ZoneId zone, DateTimeFormatter formatter) {
		try {
			return formatter.format(Instant.EPOCH.plus(value, unit).atZone(zone));
		}
		catch (DateTimeException | ArithmeticException ex) {
			return value;
		}
	}

	/**
	 * A zone that Java does not know is no reason to hide the instant.
	 */
	private static @Nullable ZoneId zone(@Nullable String name) {
		if (name == null) {
			return null;
		}
		try {
			return ZoneId.of(name);
		}
		catch (DateTimeException ex) {
			return ZoneOffset.UTC;
		}
	}

	private static ChronoUnit unit(TimeUnit unit) {
		return switch (unit) {
			case SECOND -> ChronoUnit.SECONDS;
			case MILLISECOND -> ChronoUnit.MILLIS;
			case MICROSECOND -> ChronoUnit.MICROS;
			case NANOSECOND -> ChronoUnit.NANOS;
		};
	}

}
