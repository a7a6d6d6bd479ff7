// SPDX-License-Identifier: Apache-2.0
package org.apache.kafka.server.purgatory;

import java.util.List;
import purgatory.theirs.OurPurgatory;

/** In the place of Kafka's class of this name, as far as its tests use it: our purgatory. */
public class DelayedOperationPurgatory<T extends DelayedOperation> extends OurPurgatory<T> {
    private static final int PURGE_INTERVAL = 1000; // as Kafka has it by default

    public DelayedOperationPurgatory(String name, int broker) {
        super(PURGE_INTERVAL);
    }

    public <K extends DelayedOperationKey> boolean tryCompleteElseWatch(
            T operation, List<K> keys) {
        return watch(operation, operation.ours, keys);
    }

    public <K extends DelayedOperationKey> int checkAndComplete(K key) {
        return check(key);
    }

    public <K extends DelayedOperationKey> List<T> cancelForKey(K key) {
        return cancel(key);
    }
}
