// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.fluss.server.replica.delay.DelayedOperation;
import org.apache.fluss.server.replica.delay.DelayedOperationManager;

/** Fluss's purgatory as a tablet server has it: nothing replaced, the default purge interval. */
final class RunningPurgatory {

    /** The default of the options that end in write- and fetch-operation-purge-number. */
    private static final int PURGE_INTERVAL = 1000;

    /** An operation that nothing but its time-out completes. */
    private static final class Waiting extends DelayedOperation {

        private final Runnable onExpiration;

        Waiting(long delayMs, Runnable onExpiration) {
            super(delayMs);
            this.onExpiration = onExpiration;
        }

        @Override
        public boolean tryComplete() {
            return false;
        }

        @Override
        public void onComplete() {
            // Only that it has expired matters here.
        }

        @Override
        public void onExpiration() {
            onExpiration.run();
        }
    }

    private final DelayedOperationManager<Waiting> purgatory;

    RunningPurgatory(String name) {
        purgatory = new DelayedOperationManager<>(name, 0, PURGE_INTERVAL);
    }

    void watch(long delayMs, String key, Runnable onExpiration) {
        purgatory.tryCompleteElseWatch(new Waiting(delayMs, onExpiration), List.of(key));
    }

    int watched() {
        return purgatory.watched();
    }

    int numDelayed() {
        return purgatory.numDelayed();
    }

    int estimate() {
        return ((AtomicInteger) Private.read(purgatory, "estimatedTotalOperations")).get();
    }

    int purgeInterval() {
        return PURGE_INTERVAL;
    }

    void shutdown() {
        purgatory.shutdown();
    }
}
