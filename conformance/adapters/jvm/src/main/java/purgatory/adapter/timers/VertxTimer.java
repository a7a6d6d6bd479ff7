// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The timers of an instance of Vert.x, on the real clock. */
final class VertxTimer implements Timer {
    static final Map<String, Object> PROFILE = Map.of(
            "clock", "wall",
            "executor", "thread", // the event loop of the thread that sets the timers
            "rounding", "exact", // the loop has a heap of nanoseconds
            "lateness_ms", 200, // room for a busy machine
            "negative_delay", "not_offered", // refused, said by the exception alone
            "larger_delay", "not_offered", // no limit is documented
            "features", List.of("cancel", "readd", "change_delay"),
            "observables", List.of()); // it has no size

    /** Said by the exception that refuses a shorter one. */
    static final long SMALLEST_DELAY_MS = 1;

    private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    private final Map<String, Long> armed = new HashMap<>();
    private final long smallestDelayMs;
    private final Consumer<String> ran;

    /** Takes a shorter delay for the smallest. */
    VertxTimer(long smallestDelayMs, Consumer<String> ran) {
        this.smallestDelayMs = smallestDelayMs;
        this.ran = ran;
    }

    /** A delay that it refuses leaves the task as it was. */
    @Override
    public void add(String task, long delayMs) {
        long made;
        try {
            made = vertx.setTimer(
                    Math.max(delayMs, smallestDelayMs), id -> ran.accept(task));
        } catch (IllegalArgumentException refused) {
            throw new InvalidDelay(refused);
        }
        cancel(task);
        armed.put(task, made);
    }

    @Override
    public void cancel(String task) {
        Long made = armed.remove(task);
        if (made != null) {
            vertx.cancelTimer(made);
        }
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
