// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;

/** The heap, after full collections. */
public final class Heap {

    /** What {@code detail.how} says of the readings made here. */
    public static final String HOW = "heap in use after a full collection";

    private static final MemoryMXBean MEMORY = ManagementFactory.getMemoryMXBean();

    private Heap() {
    }

    /** Twice: what the first leaves to the reference handler, the second frees. */
    public static void collect() {
        System.gc();
        System.gc();
    }

    /** Bytes in use once garbage is gone. */
    public static long usedBytes() {
        collect();
        return MEMORY.getHeapMemoryUsage().getUsed();
    }
}
