// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;

/**
 * Notices an operation that does not come back, and lets its owner break it.
 *
 * <p>Kafka's flush of a bucket is endless where an entry falls back into the bucket being flushed,
 * which the overflow of a huge delay can bring about. It is measured in processor time of the
 * thread inside, so that a machine that sleeps is not mistaken for one that loops.
 */
final class HangGuard {

    private static final long ALLOWED_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long LOOK_EVERY_MS = 250;

    private final Runnable breaker;
    private final Thread watched = Thread.currentThread();
    /** Odd while an operation is under way; written by the watched thread alone. */
    private volatile long turn;
    private volatile long brokenTurn;

    HangGuard(Runnable breaker) {
        this.breaker = breaker;
    }

    void start() {
        Thread thread = new Thread(this::look, "hang guard");
        thread.setDaemon(true);
        thread.start();
    }

    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    void enter() {
        turn++;
    }

    /** Ends the operation; whether it had to be broken. */
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    boolean leave() {
        boolean broken = brokenTurn == turn;
        turn++;
        return broken;
    }

    private void look() {
        long seenTurn = 0;
        long seenAtNs = 0;
        ThreadMXBean threads = null;
        while (true) {
            try {
                Thread.sleep(LOOK_EVERY_MS);
            } catch (InterruptedException interrupted) {
                return;
            }
            long now = turn;
            if (now % 2 == 0) {
                continue;
            }
            if (threads == null) {
                threads = ManagementFactory.getThreadMXBean();
            }
            long spentNs = threads.getThreadCpuTime(watched.getId());
            if (now != seenTurn) {
                seenTurn = now;
                seenAtNs = spentNs;
            } else if (spentNs - seenAtNs > ALLOWED_NS) {
                brokenTurn = now;
                breaker.run();
            }
        }
    }
}
