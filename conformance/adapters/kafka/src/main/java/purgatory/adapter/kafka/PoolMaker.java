// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import org.apache.kafka.common.memory.GarbageCollectedMemoryPool;
import org.apache.kafka.common.memory.MemoryPool;
import org.apache.kafka.common.memory.SimpleMemoryPool;
import org.apache.kafka.common.metrics.Sensor;

/** Makes pools of one class and one admission. */
record PoolMaker(boolean leakTracking, boolean strict) {

    /** A pool; the sensor, which may be null, records the dry spells that end. */
    MemoryPool make(long sizeBytes, int maxSingleBytes, Sensor sensor) {
        return leakTracking
                ? new GarbageCollectedMemoryPool(sizeBytes, maxSingleBytes, strict, sensor)
                : new SimpleMemoryPool(sizeBytes, maxSingleBytes, strict, sensor);
    }

    /** Ends the thread that a pool may have. */
    static void drop(MemoryPool pool) {
        if (pool instanceof GarbageCollectedMemoryPool tracking) {
            tracking.close();
        }
    }
}
