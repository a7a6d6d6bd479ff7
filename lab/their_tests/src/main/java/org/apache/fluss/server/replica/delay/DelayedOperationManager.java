// SPDX-License-Identifier: Apache-2.0
package org.apache.fluss.server.replica.delay;

import java.util.List;
import purgatory.theirs.OurPurgatory;

/** In the place of Fluss's class of this name, as far as its tests use it: our purgatory. */
public final class DelayedOperationManager<T extends DelayedOperation> extends OurPurgatory<T> {
    public DelayedOperationManager(String name, int server, int purgeInterval) {
        super(purgeInterval);
    }

    public boolean tryCompleteElseWatch(T operation, List<Object> keys) {
        return watch(operation, operation.ours, keys);
    }

    public int checkAndComplete(Object key) {
        return check(key);
    }

    public List<T> cancelForKey(Object key) {
        return cancel(key);
    }
}
