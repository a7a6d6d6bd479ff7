// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.server.purgatory.DelayedOperation;
import org.apache.kafka.server.purgatory.DelayedOperationKey;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;

/** Kafka's purgatory as a broker has it: nothing replaced, the default purge interval. */
final class RunningPurgatory {

    private record Key(String keyLabel) implements DelayedOperationKey {
    }

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

    private final DelayedOperationPurgatory<Waiting> purgatory;

    RunningPurgatory(String name) {
        if (KafkasClock.isVirtual()) {
            throw new IllegalStateException("leave the folder of the shadowing class out");
        }
        purgatory = new DelayedOperationPurgatory<>(name, 0);
    }

    void watch(long delayMs, String key, Runnable onExpiration) {
        purgatory.tryCompleteElseWatch(new Waiting(delayMs, onExpiration), List.of(new Key(key)));
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
        return (int) Private.read(purgatory, "purgeInterval");
    }

    void shutdown() throws Exception {
        purgatory.shutdown();
    }
}
