// SPDX-License-Identifier: CC0-1.0
package org.apache.kafka.server.util.timer;

import java.util.concurrent.DelayQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;

/**
 * Kafka's timing wheel, its queue of buckets and a lock as Kafka's own timer has one, with a clock
 * that the caller leads and tasks that run in his thread.
 *
 * <p>It stands in Kafka's package, since the wheel is made by its neighbours alone; Kafka's classes
 * are those of the release. The queue asks the real clock whether a bucket is due. The wheel
 * begins at 0, and the real clock reads how long the machine has been running, so that each bucket
 * is due at once.
 */
public final class CallerLedTimer {

    private static final long TICK_MS = 1;
    private static final int WHEEL_SIZE = 20;
    private static final long BEGIN_MS = 0;

    private final DelayQueue<TimerTaskList> buckets = new DelayQueue<>();
    private final AtomicInteger pending = new AtomicInteger();
    private final TimingWheel wheel =
            new TimingWheel(TICK_MS, WHEEL_SIZE, BEGIN_MS, pending, buckets);
    private final Lock adding;
    private final Lock leading;
    private final Consumer<TimerTaskEntry> place = this::place;
    private long nowMs = BEGIN_MS;

    public CallerLedTimer() {
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        adding = lock.readLock();
        leading = lock.writeLock();
    }

    public void add(TimerTask task) {
        adding.lock();
        try {
            place(new TimerTaskEntry(task, nowMs + task.delayMs));
        } finally {
            adding.unlock();
        }
    }

    /** Leads the clock to the last timer, and runs every task on the way. */
    public void leadToEnd() {
        leading.lock();
        try {
            TimerTaskList bucket = buckets.poll();
            while (bucket != null) {
                nowMs = bucket.getExpiration();
                wheel.advanceClock(nowMs);
                bucket.flush(place);
                bucket = buckets.poll();
            }
        } finally {
            leading.unlock();
        }
        if (!buckets.isEmpty()) {
            throw new IllegalStateException(
                    "the machine has not been running for as long as the last timer's delay");
        }
    }

    public int size() {
        return pending.get();
    }

    private void place(TimerTaskEntry entry) {
        if (!wheel.add(entry) && !entry.cancelled()) {
            entry.timerTask.run();
        }
    }
}
