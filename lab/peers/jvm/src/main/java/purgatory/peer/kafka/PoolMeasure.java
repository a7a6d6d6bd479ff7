// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import org.apache.kafka.common.memory.SimpleMemoryPool;
import purgatory.peer.Answer;
import purgatory.peer.BadRequest;
import purgatory.peer.CheckFailed;
import purgatory.peer.Costs;
import purgatory.peer.Measure;
import purgatory.peer.Request;
import purgatory.peer.Stopwatch;

/** Allocate a buffer of SimpleMemoryPool's, and release it. */
final class PoolMeasure implements Measure {

    private static final ThreadMXBean THREADS =
            (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long POOL_BYTES = 1L << 30;
    private static final int LARGEST_BYTES = 1 << 20;

    @Override
    public Answer take(Request request) {
        int bytes = request.count("bytes", 1);
        if (bytes > LARGEST_BYTES) {
            throw new BadRequest("'bytes' must be at most " + LARGEST_BYTES);
        }
        int operations = request.count("operations", 1);
        SimpleMemoryPool pool = new SimpleMemoryPool(POOL_BYTES, LARGEST_BYTES, false, null);
        long allocatedBefore = THREADS.getCurrentThreadAllocatedBytes();
        Stopwatch watch = Stopwatch.start();
        long granted = allocateAndRelease(pool, bytes, operations);
        watch.stopThread();
        Costs costs = watch.stop();
        CheckFailed.unlessEqual((long) operations * bytes, granted, "bytes granted");
        checkAllocated(THREADS.getCurrentThreadAllocatedBytes() - allocatedBefore, granted);
        CheckFailed.unlessEqual(POOL_BYTES, pool.availableMemory(), "bytes available in the end");
        return new Answer(operations, costs);
    }

    /** The buffers were made: what the thread has allocated has room for all of them. */
    static void checkAllocated(long allocatedBytes, long grantedBytes) {
        if (allocatedBytes < grantedBytes) {
            throw new CheckFailed("buffers were optimised away: of " + grantedBytes
                    + " bytes granted, only " + allocatedBytes + " were allocated");
        }
    }

    /**
     * Each turn releases what the turn before has allocated. A buffer that lives on into the next turn
     * cannot be optimised away, and needs no store elsewhere to be kept.
     */
    private static long allocateAndRelease(SimpleMemoryPool pool, int bytes, int operations) {
        ByteBuffer held = pool.tryAllocate(bytes);
        long granted = held.capacity();
        for (int i = 1; i < operations; i++) {
            pool.release(held);
            held = pool.tryAllocate(bytes);
            granted += held.capacity();
        }
        pool.release(held);
        return granted;
    }
}
