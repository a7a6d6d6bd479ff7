// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.concurrent.TimeUnit;
import org.apache.fluss.utils.clock.Clock;

/** The virtual clock as Fluss's timers take one; it ends at 2^63 - 1 nanoseconds. */
final class SteppedClock implements Clock {

    private static final long LAST_MS = TimeUnit.NANOSECONDS.toMillis(Long.MAX_VALUE);

    @Override
    public long milliseconds() {
        return VirtualClock.nowMs();
    }

    @Override
    public long nanoseconds() {
        long nowMs = VirtualClock.nowMs();
        if (Math.abs(nowMs) > LAST_MS) {
            throw new Unsupported("a clock of Fluss's has no such reading");
        }
        return TimeUnit.MILLISECONDS.toNanos(nowMs);
    }
}
