// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import org.apache.kafka.server.util.timer.SystemTimer;

/** Kafka's {@code SystemTimer}, and the names of its private parts. */
final class ReleasedTimer {

    static final String NAME = "Apache Kafka SystemTimer, virtual clock";
    static final String PACKAGE = "org.apache.kafka.server.util.timer.";
    static final String TYPE = "SystemTimer";
    static final String CURRENT_TIME = "currentTimeMs";

    private final SystemTimer timer;

    ReleasedTimer(TimerSizes sizes) {
        VirtualClock.set(sizes.startMs());
        timer = new SystemTimer(
                "conformance", sizes.tickMs(), sizes.wheelSize(), sizes.startMs());
    }

    /** The timer itself, whose private parts are read. */
    Object timer() {
        return timer;
    }

    void add(ScriptedTask task) {
        timer.add(task);
    }

    boolean advanceClock() throws InterruptedException {
        return timer.advanceClock(0);
    }

    int size() {
        return timer.size();
    }

    void close() throws Exception {
        timer.close();
    }
}
