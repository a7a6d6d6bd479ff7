// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.LongFunction;

/** A naive memory pool: put yours in its place. It knows nothing of the protocol. */
final class NaiveMemoryPool {
    /** The memory for a buffer cannot be had. */
    static final class NoMemory extends RuntimeException {
        NoMemory(Throwable cause) {
            super(cause);
        }
    }

    private final long sizeBytes;
    private final long maxSingleBytes;
    private final boolean strict;
    private final Set<ByteBuffer> granted = Collections.newSetFromMap(new IdentityHashMap<>());
    private long availableBytes;
    private Long drySinceMs;
    private long depletedMs;
    private int depletedSpells;
    long nowMs; // a clock that somebody else moves
    LongFunction<ByteBuffer> allocator = NaiveMemoryPool::newBuffer; // where the memory comes from

    NaiveMemoryPool(long sizeBytes, long maxSingleBytes, boolean strict) {
        if (maxSingleBytes < 1 || sizeBytes < maxSingleBytes) {
            throw new IllegalArgumentException("sizes are at least 1, and the largest buffer fits into the pool");
        }
        this.sizeBytes = sizeBytes;
        this.maxSingleBytes = maxSingleBytes;
        this.strict = strict;
        this.availableBytes = sizeBytes;
    }

    /** A buffer of this size, or null where there is not enough left. */
    ByteBuffer tryAllocate(long bytes) {
        if (bytes < 1 || bytes > maxSingleBytes) {
            throw new IllegalArgumentException("a buffer has 1 to " + maxSingleBytes + " bytes");
        }
        if (availableBytes < (strict ? bytes : 1)) {
            drySinceMs = drySinceMs == null ? Long.valueOf(nowMs) : drySinceMs;
            return null;
        }
        ByteBuffer buffer = allocator.apply(bytes); // may fail: nothing has been taken yet
        granted.add(buffer);
        endDrySpell();
        availableBytes -= bytes;
        return buffer;
    }

    /** A buffer of zeros. Where there is no memory for it, the program still has some for the rest. */
    static ByteBuffer newBuffer(long bytes) {
        try {
            return ByteBuffer.allocate(Math.toIntExact(bytes));
        } catch (ArithmeticException | OutOfMemoryError none) {
            throw new NoMemory(none);
        }
    }

    void release(ByteBuffer buffer) {
        if (buffer == null || !granted.remove(buffer)) {
            throw new IllegalArgumentException("that is no buffer that is out");
        }
        endDrySpell();
        availableBytes += buffer.capacity();
    }

    private void endDrySpell() {
        if (drySinceMs != null) {
            depletedSpells++;
            depletedMs += nowMs - drySinceMs;
            drySinceMs = null;
        }
    }

    long sizeBytes() {
        return sizeBytes;
    }

    long availableBytes() {
        return availableBytes;
    }

    long depletedMs() {
        return depletedMs;
    }

    int depletedSpells() {
        return depletedSpells;
    }
}
