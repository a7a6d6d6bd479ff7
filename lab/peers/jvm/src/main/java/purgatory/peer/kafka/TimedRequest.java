// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import java.util.List;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.server.purgatory.DelayedOperation;

/** A request of the workload; a delay queue gives it out when it can be completed. */
final class TimedRequest extends DelayedOperation implements Delayed {

    static final long TIME_OUT_MS = 200;

    @SuppressWarnings("unused")
    private final byte[] payload;
    private final List<Key> keys;
    private final long dueNs;
    private final RequestTally tally;
    private volatile boolean ready;
    private boolean completed;

    /** Can be completed at {@code dueNs} of {@link System#nanoTime}. */
    TimedRequest(int payloadBytes, List<Key> keys, long dueNs, RequestTally tally) {
        super(TIME_OUT_MS);
        payload = payloadBytes == 0 ? null : new byte[payloadBytes];
        this.keys = keys;
        this.dueNs = dueNs;
        this.tally = tally;
    }

    void mark() {
        ready = true;
    }

    List<Key> keys() {
        return keys;
    }

    long dueNs() {
        return dueNs;
    }

    @Override
    public boolean tryComplete() {
        return ready && forceComplete();
    }

    @Override
    public void onComplete() {
        tally.ended(completed);
        completed = true;
    }

    @Override
    public void onExpiration() {
        tally.expired();
    }

    @Override
    public long getDelay(TimeUnit unit) {
        return unit.convert(dueNs - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
        return Long.signum(dueNs - ((TimedRequest) other).dueNs);
    }
}
