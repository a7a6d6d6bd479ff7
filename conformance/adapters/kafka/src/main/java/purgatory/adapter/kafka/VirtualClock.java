// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import org.apache.kafka.common.utils.Time;

/** The reading of the virtual clock, which the shadowing {@code SystemTime} hands to Kafka. */
public final class VirtualClock {

    private static volatile long nowMs;

    private VirtualClock() {
    }

    public static long nowMs() {
        return nowMs;
    }

    static void set(long readingMs) {
        nowMs = readingMs;
    }

    static void mustBeKafkasClock() {
        if (!isKafkasClock()) {
            throw new IllegalStateException("put the folder of the shadowing class first");
        }
    }

    /** Whether Kafka's system clock reads this one; false where nothing is shadowed. */
    static boolean isKafkasClock() {
        for (long reading : new long[] {-7, 11}) {
            set(reading);
            if (Time.SYSTEM.hiResClockMs() != reading) {
                return false;
            }
        }
        return true;
    }
}
