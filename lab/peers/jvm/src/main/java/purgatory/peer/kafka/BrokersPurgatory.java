// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import java.util.List;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.purgatory.DelayedOperation;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;
import org.apache.kafka.server.util.timer.SystemTimer;
import purgatory.peer.CheckFailed;

/**
 * A purgatory as a broker has it, with its own reaper and timer: tick 1 ms, 20 buckets a wheel.
 *
 * @param <T> the operations
 */
final class BrokersPurgatory<T extends DelayedOperation> implements AutoCloseable {

    private static final int BROKER = 0;
    static final int PURGE_INTERVAL = 1000;
    private static final long TICK_MS = 1;
    private static final int WHEEL_SIZE = 20;

    private final DelayedOperationPurgatory<T> purgatory;

    BrokersPurgatory() {
        this(PURGE_INTERVAL);
    }

    BrokersPurgatory(int purgeInterval) {
        purgatory = new DelayedOperationPurgatory<>(
                "peer", new SystemTimer("peer", TICK_MS, WHEEL_SIZE, Time.SYSTEM.hiResClockMs()),
                BROKER, purgeInterval, true, true);
    }

    /** Watches an operation that cannot be completed yet. */
    void watch(T operation, List<Key> keys) {
        if (purgatory.tryCompleteElseWatch(operation, keys)) {
            throw new CheckFailed("an operation was complete before it was marked");
        }
    }

    int check(Key key) {
        return purgatory.checkAndComplete(key);
    }

    /** How many operations the timer holds. */
    int pending() {
        return purgatory.numDelayed();
    }

    /** How many entries all lists have together. */
    int watched() {
        return purgatory.watched();
    }

    @Override
    public void close() throws Exception {
        purgatory.shutdown();
    }
}
