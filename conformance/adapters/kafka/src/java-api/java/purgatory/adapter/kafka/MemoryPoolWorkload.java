// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.random.RandomGenerator;
import org.apache.kafka.common.memory.MemoryPool;

/** Buffers are allocated by one thread and released by any. */
final class MemoryPoolWorkload extends Workload {

    private static final int SLOTS = 256;

    private record Granted(String name, ByteBuffer buffer) {
    }

    private final AtomicReferenceArray<Granted> granted = new AtomicReferenceArray<>(SLOTS);
    private final MemoryPool pool;
    private final int maxSingleBytes;

    MemoryPoolWorkload(
            TraceWriter writer, Wish wish, long sizeBytes, int maxSingleBytes, boolean strict) {
        super(writer, wish);
        this.maxSingleBytes = maxSingleBytes;
        pool = new PoolMaker(false, strict).make(sizeBytes, maxSingleBytes, null);
    }

    @Override
    void turn(RandomGenerator random) {
        int slot = random.nextInt(SLOTS);
        Granted former = granted.getAndSet(slot, null);
        if (former != null) {
            release(former);
        } else {
            Granted fresh = allocate(random.nextInt(1, maxSingleBytes + 1));
            former = granted.getAndSet(slot, fresh);
            if (former != null) {
                release(former);
            }
        }
    }

    private Granted allocate(int sizeBytes) {
        String name = newName();
        if (writer != null) {
            writer.call("{\"op\":\"allocate\",\"buffer\":\"" + name + "\",\"size_bytes\":"
                    + sizeBytes + "}");
        }
        ByteBuffer buffer = pool.tryAllocate(sizeBytes);
        if (writer != null) {
            writer.returned(buffer != null);
        }
        return buffer == null ? null : new Granted(name, buffer);
    }

    private void release(Granted former) {
        if (writer != null) {
            writer.call("{\"op\":\"release\",\"buffer\":\"" + former.name() + "\"}");
        }
        pool.release(former.buffer());
        if (writer != null) {
            writer.returned();
        }
    }

    @Override
    int live() {
        return 0;
    }

    @Override
    int most() {
        return SLOTS;
    }

    @Override
    public void close() {
        // A pool has no threads, and nothing to shut down.
    }
}
