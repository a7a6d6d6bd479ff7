// SPDX-License-Identifier: Apache-2.0
package org.apache.fluss.server.utils.timer;

/** In the place of Fluss's class of this name, as far as its tests use it: a task of our timer. */
public abstract class TimerTask implements Runnable {
    protected final long delayMs;

    public TimerTask(long delayMs) {
        this.delayMs = delayMs;
    }
}
