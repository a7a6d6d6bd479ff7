// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Netty's {@code HashedWheelTimer} with its own thread, on the real clock: it reads nanoTime itself. */
final class NettyTimer implements Timer {
    static final Map<String, Object> PROFILE = Map.of(
            "clock", "wall",
            "executor", "thread",
            // Ticks count from the moment at which the timer was made, which nobody can choose here.
            "rounding", "exact",
            // A task waits for the end of its tick, at most 10 ms here, and then for the machine.
            "lateness_ms", 210,
            // The argument's unit is nanoseconds inside: no limit within reach, none documented.
            "larger_delay", "not_offered",
            "features", List.of("cancel", "readd", "change_delay"),
            // No size: pendingTimeouts() counts a cancelled task until the thread's next tick.
            "observables", List.of());

    /** The same with a size, which breaks TIMER-SIZE. */
    static final Map<String, Object> PROFILE_WITH_SIZE = withSize();

    private final HashedWheelTimer timer;
    private final Map<String, Timeout> armed = new HashMap<>();
    private final Consumer<String> ran;

    NettyTimer(long tickMs, int wheelSize, Consumer<String> ran) {
        this.timer = new HashedWheelTimer(tickMs, TimeUnit.MILLISECONDS, wheelSize);
        this.ran = ran;
        timer.start();
    }

    @Override
    public void add(String task, long delayMs) {
        cancel(task);
        armed.put(task, timer.newTimeout(timeout -> ran.accept(task), delayMs, TimeUnit.MILLISECONDS));
    }

    @Override
    public void cancel(String task) {
        Timeout timeout = armed.remove(task);
        if (timeout != null) {
            timeout.cancel();
        }
    }

    @Override
    public Map<String, Object> observed() {
        return Map.of("size", timer.pendingTimeouts()); // compared only where it is declared
    }

    private static Map<String, Object> withSize() {
        Map<String, Object> profile = new HashMap<>(PROFILE);
        profile.put("observables", List.of("size"));
        return profile;
    }

    @Override
    public void close() {
        timer.stop();
    }
}
