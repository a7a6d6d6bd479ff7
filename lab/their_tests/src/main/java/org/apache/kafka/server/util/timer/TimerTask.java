// SPDX-License-Identifier: Apache-2.0
package org.apache.kafka.server.util.timer;

/** In the place of Kafka's class of this name, as far as its tests use it: a task of our timer. */
public abstract class TimerTask implements Runnable {
    public final long delayMs;

    public TimerTask(long delayMs) {
        this.delayMs = delayMs;
    }
}
