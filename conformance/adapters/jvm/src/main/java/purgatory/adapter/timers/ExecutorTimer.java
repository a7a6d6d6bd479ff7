// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The JDK's {@code ScheduledThreadPoolExecutor} with one thread, on the real clock. */
final class ExecutorTimer implements Timer {
    static final Map<String, Object> PROFILE = Map.of(
            "clock", "wall",
            "executor", "thread",
            "rounding", "exact", // a heap of nanoseconds
            "lateness_ms", 200, // room for a busy machine
            "negative_delay", "as_zero", // documented: treated as a request for immediate execution
            "larger_delay", "not_offered", // a long of nanoseconds; what is above means its end
            "features", List.of("cancel", "readd", "change_delay"),
            "observables", List.of("size"));

    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);
    private final Map<String, ScheduledFuture<?>> armed = new HashMap<>();
    private final Consumer<String> ran;

    ExecutorTimer(Consumer<String> ran) {
        this.ran = ran;
        // Without it a cancelled task stays in the queue, and in its size, until it is due.
        executor.setRemoveOnCancelPolicy(true);
        executor.prestartCoreThread();
    }

    @Override
    public void add(String task, long delayMs) {
        cancel(task);
        armed.put(task, executor.schedule(() -> ran.accept(task), delayMs, TimeUnit.MILLISECONDS));
    }

    @Override
    public void cancel(String task) {
        ScheduledFuture<?> future = armed.remove(task);
        if (future != null) {
            future.cancel(false);
        }
    }

    @Override
    public Map<String, Object> observed() {
        return Map.of("size", executor.getQueue().size());
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
