// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import org.apache.fluss.server.utils.timer.DefaultTimer;

/** Fluss's {@code DefaultTimer}, and the names of its private parts. */
final class ReleasedTimer {

    static final String NAME = "Apache Fluss DefaultTimer, virtual clock";
    static final String PACKAGE = "org.apache.fluss.server.utils.timer.";
    static final String TYPE = "DefaultTimer";
    static final String CURRENT_TIME = "currentTime";

    private final DefaultTimer timer;

    /** The timer reads its start from the clock. */
    ReleasedTimer(TimerSizes sizes) {
        VirtualClock.set(sizes.startMs());
        timer = new DefaultTimer(
                "conformance", sizes.tickMs(), sizes.wheelSize(), new SteppedClock());
    }

    /** The timer itself, whose private parts are read. */
    DefaultTimer timer() {
        return timer;
    }

    void add(ScriptedTask task) {
        timer.add(task);
    }

    boolean advanceClock() throws InterruptedException {
        return timer.advanceClock(0);
    }

    int size() {
        return timer.numOfTimerTasks();
    }

    void close() {
        timer.shutdown();
    }
}
