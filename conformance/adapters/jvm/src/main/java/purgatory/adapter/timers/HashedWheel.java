// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Netty's {@code HashedWheelTimer}, or one that was made from it, with its own thread and clock. */
final class HashedWheel implements Timer {
    static final Map<String, Object> PROFILE = Map.of(
            "clock", "wall", // it reads nanoTime itself
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

    private final Wheel wheel;
    private final Map<String, Runnable> armed = new HashMap<>();
    private final Consumer<String> ran;

    HashedWheel(Wheel wheel, Consumer<String> ran) {
        this.wheel = wheel;
        this.ran = ran;
    }

    @Override
    public void add(String task, long delayMs) {
        cancel(task);
        armed.put(task, wheel.arm(() -> ran.accept(task), delayMs));
    }

    @Override
    public void cancel(String task) {
        Runnable cancelling = armed.remove(task);
        if (cancelling != null) {
            cancelling.run();
        }
    }

    @Override
    public Map<String, Object> observed() {
        return Map.of("size", wheel.pending()); // compared only where it is declared
    }

    private static Map<String, Object> withSize() {
        Map<String, Object> profile = new HashMap<>(PROFILE);
        profile.put("observables", List.of("size"));
        return profile;
    }

    @Override
    public void close() {
        wheel.stop();
    }

    /** Calls of a timer; the types of the three have nothing in common but their names. */
    record Wheel(BiFunction<Runnable, Long, Runnable> arms, LongSupplier counts, Runnable stops) {
        /** Arms a task, and returns what cancels it. */
        Runnable arm(Runnable task, long delayMs) {
            return arms.apply(task, delayMs);
        }

        long pending() {
            return counts.getAsLong();
        }

        void stop() {
            stops.run();
        }
    }

    static Wheel named(String word, long tickMs, int wheelSize) {
        return switch (word) {
            case "dubbo" -> dubbo(tickMs, wheelSize);
            case "jraft" -> jraft(tickMs, wheelSize);
            case "netty" -> netty(tickMs, wheelSize);
            default -> throw new IllegalArgumentException("there is no wheel '" + word + "' here");
        };
    }

    private static Wheel netty(long tickMs, int wheelSize) {
        var timer = new io.netty.util.HashedWheelTimer(tickMs, MILLISECONDS, wheelSize);
        timer.start();
        return new Wheel(
                (task, ms) -> timer.newTimeout(timeout -> task.run(), ms, MILLISECONDS)::cancel,
                timer::pendingTimeouts,
                timer::stop);
    }

    private static Wheel dubbo(long tickMs, int wheelSize) {
        var timer = new org.apache.dubbo.common.timer.HashedWheelTimer(tickMs, MILLISECONDS, wheelSize);
        timer.start();
        return new Wheel(
                (task, ms) -> timer.newTimeout(timeout -> task.run(), ms, MILLISECONDS)::cancel,
                timer::pendingTimeouts,
                timer::stop);
    }

    private static Wheel jraft(long tickMs, int wheelSize) {
        var timer = new com.alipay.sofa.jraft.util.timer.HashedWheelTimer(
                tickMs, MILLISECONDS, wheelSize);
        timer.start();
        return new Wheel(
                (task, ms) -> timer.newTimeout(timeout -> task.run(), ms, MILLISECONDS)::cancel,
                timer::pendingTimeouts,
                timer::stop);
    }
}
