// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.eclipse.jetty.util.thread.ScheduledExecutorScheduler;
import org.eclipse.jetty.util.thread.Scheduler;

/** One of Jetty's schedulers with its own thread, on the real clock. */
final class JettyTimer implements Timer {
    static final Map<String, Object> PROFILE = Map.of(
            "clock", "wall",
            "executor", "thread",
            "rounding", "exact", // both stand on the JDK's heaps
            "lateness_ms", 200, // room for a busy machine
            "negative_delay", "not_offered", // nothing is promised, and the two differ
            "larger_delay", "not_offered", // no limit is documented
            "features", List.of("cancel", "readd", "change_delay"),
            "observables", List.of()); // it has no size

    private final Scheduler scheduler;
    private final Map<String, Scheduler.Task> armed = new HashMap<>();
    private final Consumer<String> ran;

    private JettyTimer(Scheduler scheduler, Consumer<String> ran) {
        this.scheduler = scheduler;
        this.ran = ran;
        try {
            scheduler.start();
        } catch (Exception failed) {
            throw new IllegalArgumentException(failed);
        }
    }

    /** The one that a server has by default. */
    static JettyTimer onAnExecutor(Consumer<String> ran) {
        return new JettyTimer(new ScheduledExecutorScheduler("judged", true), ran);
    }

    /** The older one, deprecated in favour of the other. */
    @SuppressWarnings({"deprecation", "removal"})
    static JettyTimer onATimer(Consumer<String> ran) {
        return new JettyTimer(
                new org.eclipse.jetty.util.thread.TimerScheduler("judged", true), ran);
    }

    @Override
    public void add(String task, long delayMs) {
        cancel(task);
        armed.put(task, scheduler.schedule(
                () -> ran.accept(task), delayMs, TimeUnit.MILLISECONDS));
    }

    @Override
    public void cancel(String task) {
        Scheduler.Task made = armed.remove(task);
        if (made != null) {
            made.cancel();
        }
    }

    @Override
    public void close() {
        try {
            scheduler.stop();
        } catch (Exception failed) {
            throw new IllegalArgumentException(failed);
        }
    }
}
