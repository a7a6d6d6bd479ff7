// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/**
 * A clock that is moved by hand and handed to Kafka's selector.
 *
 * <p>{@code Selector.poll} reads it for the first time after its look at the memory pool and right
 * before it selects. So a reading is also the place where an action can come in between.
 */
final class SteppedTime implements Time {

    private long nowNs = TimeUnit.DAYS.toNanos(1);
    private Runnable atNextReading;

    void elapse(long ms) {
        nowNs += TimeUnit.MILLISECONDS.toNanos(ms);
    }

    void atNextReading(Runnable action) {
        atNextReading = action;
    }

    @Override
    public long milliseconds() {
        return TimeUnit.NANOSECONDS.toMillis(nowNs);
    }

    @Override
    public long nanoseconds() {
        Runnable action = atNextReading;
        atNextReading = null;
        if (action != null) {
            action.run();
        }
        return nowNs;
    }

    @Override
    public long hiResClockMs() {
        return milliseconds();
    }

    @Override
    public void sleep(long ms) {
        elapse(ms);
    }

    /** Declared by {@code Time} before release 4.4; a selector never calls it. */
    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException("nobody waits on this clock");
    }
}
