// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import purgatory.peer.CheckFailed;

/** Counts how requests ended, in whichever thread that was. */
final class RequestTally {

    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    private final LongAdder ended = new LongAdder();
    private final LongAdder repeated = new LongAdder();
    private final LongAdder expired = new LongAdder();

    /** A request has ended, in either way; whether it had before. */
    void ended(boolean before) {
        ended.increment();
        if (before) {
            repeated.increment();
        }
    }

    /** A request has ended by its time-out, which is told besides. */
    void expired() {
        expired.increment();
    }

    long expiredCount() {
        return expired.sum();
    }

    long completedCount() {
        return ended.sum() - expired.sum();
    }

    /** Looks every millisecond, so that the threads that count need not tell. */
    void awaitEnded(int requests) throws InterruptedException {
        long beganNs = System.nanoTime();
        while (ended.sum() < requests) {
            if (System.nanoTime() - beganNs > PATIENCE_NS) {
                throw new CheckFailed((requests - ended.sum()) + " requests have not ended");
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    /** Each request has ended exactly once; to be called when all threads are done. */
    void check(int requests) {
        CheckFailed.unlessEqual(requests, ended.sum(), "requests that ended");
        CheckFailed.unlessEqual(0, repeated.sum(), "requests that ended again");
    }
}
