// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.DeadlineTimerWheel;

/** Agrona's {@code DeadlineTimerWheel}: it has no clock and no thread, and is told the time. */
final class AgronaTimer implements Timer {
    static final Map<String, Object> PROFILE = Map.of(
            // Deadlines are compared as they are; a resolution of 1 ms, since only powers of two
            // can be chosen.
            "rounding", "exact",
            // No thread, but no order either: a poll expires what is due in the bucket of one tick,
            // also what was meant for a later turn of the wheel and has become due meanwhile.
            "executor", "threads",
            // The caller adds reading and delay, so that a limit would be the caller's.
            "larger_delay", "not_offered",
            "largest_delay_ms", (1L << 53) - 1,
            "features", List.of("cancel", "readd", "change_delay", "elapse", "negative_clock"),
            "observables", List.of("size", "advance_result"));

    private final DeadlineTimerWheel wheel;
    private final Map<String, Long> armed = new HashMap<>();
    private final Map<Long, String> names = new HashMap<>();
    private final Consumer<String> ran;
    private long nowMs;

    AgronaTimer(int wheelSize, long startMs, Consumer<String> ran) {
        // As many ticks as asked for, rounded up to a power of two.
        int ticks = Integer.highestOneBit(2 * wheelSize - 1);
        this.wheel = new DeadlineTimerWheel(TimeUnit.MILLISECONDS, startMs, 1, ticks);
        this.nowMs = startMs;
        this.ran = ran;
    }

    @Override
    public void add(String task, long delayMs) {
        cancel(task);
        long id = wheel.scheduleTimer(nowMs + delayMs);
        armed.put(task, id);
        names.put(id, task);
    }

    @Override
    public void cancel(String task) {
        Long id = armed.remove(task);
        if (id != null) {
            names.remove(id);
            wheel.cancelTimer(id);
        }
    }

    @Override
    public void elapse(long toMs) {
        nowMs = toMs;
    }

    /** A poll looks at one tick, and moves on to the next one where that has passed. */
    @Override
    public boolean advance() {
        int expired = 0;
        while (wheel.currentTickTime() <= nowMs) {
            expired += poll();
        }
        return expired + poll() > 0;
    }

    private int poll() {
        return wheel.poll(nowMs, (unit, now, id) -> expire(id), Integer.MAX_VALUE);
    }

    private boolean expire(long id) {
        String task = names.remove(id);
        armed.remove(task);
        ran.accept(task);
        return true;
    }

    @Override
    public Map<String, Object> observed() {
        return Map.of("size", wheel.timerCount());
    }
}
