// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;

/** The heap, after full collections. */
public final class Heap {

    /** What {@code detail.how} says of the readings made here. */
    public static final String HOW = "heap in use after a full collection";

    private static final MemoryMXBean MEMORY = ManagementFactory.getMemoryMXBean();

    /** What two readings of one heap may differ by. */
    private static final long NOISE_BYTES = 64 << 10;

    /** Time for the thread that runs finalizers. */
    private static final long PAUSE_MS = 100;

    private static final int MOST_READINGS = 20;

    private Heap() {
    }

    /** Twice: what the first leaves to the reference handler, the second frees. */
    public static void collect() {
        System.gc();
        System.gc();
    }

    /**
     * Bytes in use once garbage is gone: collected until that frees nothing more.
     *
     * <p>What has a finalizer, as Netty's timer, stays with all that it holds until another thread
     * has run that and a later collection has come by.
     */
    public static long usedBytes() throws InterruptedException {
        long used = usedAfterCollection();
        for (int reading = 1; reading < MOST_READINGS; reading++) {
            Thread.sleep(PAUSE_MS);
            long again = usedAfterCollection();
            if (used - again <= NOISE_BYTES) {
                return again;
            }
            used = again;
        }
        throw new CheckFailed("the heap still shrinks after " + MOST_READINGS
                + " collections; something lets go of objects while it is measured");
    }

    /** Bytes by which the heap has grown since a reading; one that has shrunk is refused. */
    public static long grownSince(long usedBytes) throws InterruptedException {
        long grown = usedBytes() - usedBytes;
        if (grown < -NOISE_BYTES) {
            throw new CheckFailed("the heap has shrunk by " + -grown + " bytes since the first"
                    + " reading, which contained what was garbage soon after");
        }
        return grown;
    }

    private static long usedAfterCollection() {
        collect();
        return MEMORY.getHeapMemoryUsage().getUsed();
    }
}
