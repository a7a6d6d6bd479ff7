// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.LightArrayRevolverScheduler;
import org.apache.pekko.event.NoLogging;
import scala.concurrent.ExecutionContext;

/**
 * Pekko's {@code LightArrayRevolverScheduler} on a clock that the suite moves. Its own thread turns
 * the wheel; what it offers to tests is overridden: its clock, its wait, its first tick.
 */
final class PekkoTimer implements Timer {
    static final Map<String, Object> PROFILE = Map.of(
            // A delay is rounded up to ticks and then counted from the next tick, documented as
            // one tick later than could be; so the tick is 1 ms, the shortest that it supports.
            "rounding", "exact",
            "executor", "inline", // Scala's parasitic one: in the thread of the wheel
            "negative_delay", "as_zero", // what is not above zero is executed by the call itself
            "larger_delay", "reject", // documented by the exception: as many ticks as an int has
            "largest_delay_ms", Integer.MAX_VALUE,
            "severe_throw", "as_ordinary", // the executor reports every error that is not fatal
            "features", List.of(
                    "cancel", "readd", "change_delay", "shutdown", "negative_clock",
                    "script_throw", "script_throw_severe", "script_add", "script_cancel"),
            "observables", List.of());

    private static final long MS = 1_000_000;
    /** Offered to tests as well: the int in which it counts ticks wraps in most cases. */
    private static final int START_TICK = Integer.MAX_VALUE - 20;
    private static final ExecutionContext IN_THE_WHEELS_THREAD =
            ExecutionContext.parasitic$.MODULE$;

    private static final long SAYABLE_MS = Duration.ofDays(36_500).toMillis();

    private final Thread caller = Thread.currentThread();
    private final Object turns = new Object();
    private final Consumer<String> ran;
    private final Map<String, Cancellable> armed = new HashMap<>();
    private final LightArrayRevolverScheduler scheduler;
    private volatile long nowNanos;
    private boolean begun;
    private boolean waits; // guarded by turns: the wheel's thread has nothing to do
    private boolean goesOn; // guarded by turns: it may look again
    private volatile boolean closed;

    PekkoTimer(int wheelSize, long startMs, Consumer<String> ran) {
        this.ran = ran;
        this.nowNanos = nanos(startMs);
        // As many ticks as asked for, rounded up to a power of two, which it wants.
        int ticks = Integer.highestOneBit(2 * wheelSize - 1);
        Config config = ConfigFactory.parseMap(Map.of(
                "pekko.scheduler.tick-duration", "1ms",
                "pekko.scheduler.ticks-per-wheel", ticks,
                "pekko.scheduler.error-on-tick-duration-verification-failed", true,
                "pekko.scheduler.shutdown-timeout", "60s"));
        this.scheduler = new OnThisClock(config);
        lookAgain();
    }

    /** A task that is due runs inside the call, and may add itself there. */
    @Override
    public void add(String task, long delayMs) {
        Cancellable before = armed.remove(task);
        // The type of its durations ends at 292 years, its own limit is an int of ticks.
        long sayableMs = Math.max(-SAYABLE_MS, Math.min(delayMs, SAYABLE_MS));
        try {
            Cancellable made = scheduler.scheduleOnce(
                    Duration.ofMillis(sayableMs), () -> ran.accept(task), IN_THE_WHEELS_THREAD);
            armed.putIfAbsent(task, made);
        } catch (RuntimeException refused) {
            if (before != null) {
                armed.put(task, before);
            }
            throw refused;
        }
        if (before != null) {
            before.cancel();
        }
        lookAgain();
    }

    @Override
    public void cancel(String task) {
        Cancellable made = armed.remove(task);
        if (made != null) {
            made.cancel();
        }
    }

    @Override
    public void elapse(long toMs) {
        nowNanos = nanos(toMs);
    }

    @Override
    public boolean advance() {
        lookAgain();
        return false; // it does not tell, and the profile declares no result
    }

    @Override
    public void close() {
        if (!closed) {
            synchronized (turns) { // from now on the thread never waits, so that it can end
                closed = true;
                turns.notifyAll();
            }
            scheduler.close();
        }
    }

    /** Lets the wheel's thread do what there is at this reading; returns when it waits again. */
    private void lookAgain() {
        if (closed || Thread.currentThread() != caller) { // it looks when its task is over
            return;
        }
        synchronized (turns) {
            awaitTurn();
            goesOn = true;
            turns.notifyAll();
            awaitTurn();
        }
    }

    private void awaitTurn() {
        while (goesOn || !waits) {
            pause();
        }
    }

    private void pause() {
        try {
            turns.wait();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    private static long nanos(long ms) {
        try {
            return Math.multiplyExact(ms, MS);
        } catch (ArithmeticException beyond) {
            throw new UnsupportedOperationException("its clock has nanoseconds in 64 bits");
        }
    }

    private final class OnThisClock extends LightArrayRevolverScheduler {
        OnThisClock(Config config) {
            super(config, NoLogging.getInstance(), Thread::new);
        }

        /** Its first reading is its start: so long ago that the tick is the one of the start. */
        @Override
        public long clock() {
            if (!begun) {
                begun = true; // before there is a thread
                return nowNanos - START_TICK * MS;
            }
            return nowNanos;
        }

        @Override
        public int startTick() {
            return START_TICK;
        }

        @Override
        public void waitNanos(long nanos) {
            synchronized (turns) {
                waits = true;
                turns.notifyAll();
                while (!goesOn && !closed) {
                    pause();
                }
                goesOn = false;
                waits = false;
            }
        }
    }
}
