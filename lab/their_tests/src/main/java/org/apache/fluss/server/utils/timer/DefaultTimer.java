// SPDX-License-Identifier: Apache-2.0
package org.apache.fluss.server.utils.timer;

import purgatory.theirs.RunTheirs;

/** In the place of Fluss's class of this name, as far as its tests use it: our timer. */
public class DefaultTimer {
    private final int timer;

    public DefaultTimer(String name, long tickMs, int wheelSize) {
        timer = RunTheirs.ours().timer(tickMs, wheelSize);
    }

    public void add(TimerTask task) {
        RunTheirs.ours().add(timer, task, task.delayMs);
    }

    public boolean advanceClock(long timeoutMs) {
        return RunTheirs.ours().advance(timer, timeoutMs);
    }

    public void shutdown() {
        RunTheirs.ours().closeTimer(timer);
    }
}
