// SPDX-License-Identifier: CC0-1.0
package org.apache.kafka.common.utils;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import purgatory.adapter.kafka.VirtualClock;

/**
 * Stands before Kafka's class of this name on the class path, so that {@code Time.SYSTEM} reads the
 * adapter's clock. One source for all releases from 4.0.
 */
public class SystemTime implements Time {

    /** A fresh instance each time: {@code Time} asks before a static field here would be set. */
    public static SystemTime getSystemTime() {
        return new SystemTime();
    }

    @Override
    public long milliseconds() {
        return VirtualClock.nowMs();
    }

    @Override
    public long hiResClockMs() {
        return VirtualClock.nowMs();
    }

    @Override
    public long nanoseconds() {
        return TimeUnit.MILLISECONDS.toNanos(VirtualClock.nowMs());
    }

    @Override
    public void sleep(long ms) {
        throw new UnsupportedOperationException("nothing may sleep on a virtual clock");
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException("nothing may wait on a virtual clock");
    }
}
