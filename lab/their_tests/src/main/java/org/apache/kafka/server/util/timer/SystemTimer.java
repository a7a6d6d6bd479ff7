// SPDX-License-Identifier: Apache-2.0
package org.apache.kafka.server.util.timer;

import purgatory.theirs.RunTheirs;

/** In the place of Kafka's class of this name, as far as its tests use it: our timer. */
public class SystemTimer {
    private final int timer;
    private boolean closed;

    public SystemTimer(String name, long tickMs, int wheelSize, long startMs) {
        timer = RunTheirs.ours().timer(tickMs, wheelSize);
    }

    public void add(TimerTask task) {
        RunTheirs.ours().add(timer, task, task.delayMs);
    }

    public boolean advanceClock(long timeoutMs) {
        return RunTheirs.ours().advance(timer, timeoutMs);
    }

    public void close() {
        RunTheirs.ours().closeTimer(timer); // it waits for the timer's threads
        closed = true;
    }

    public boolean isTerminated() {
        return closed;
    }
}
