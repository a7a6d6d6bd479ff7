// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Netty's pooled allocator, with buffers in the heap. */
final class NettyPool implements Pool<ByteBuf> {
    static final Map<String, Object> PROFILE = Map.of(
            // A buffer knows its pool and its references, so that no other can be given back.
            "release_validation", "identity",
            "zero_request", "grant",
            "features", List.of("unbounded", "fill"),
            "observables", List.of("buffer_bytes"));

    /** One for all cases: what the caches of its threads hold stays as long as the thread. */
    private static final PooledByteBufAllocator ALLOCATOR = new PooledByteBufAllocator(false);

    private final Set<ByteBuf> outstanding = Collections.newSetFromMap(new IdentityHashMap<>());

    @Override
    public ByteBuf allocate(int sizeBytes) {
        ByteBuf buffer = ALLOCATOR.heapBuffer(sizeBytes);
        outstanding.add(buffer);
        return buffer;
    }

    @Override
    public void release(ByteBuf buffer) {
        try {
            buffer.release();
            outstanding.remove(buffer);
        } catch (IllegalReferenceCountException released) {
            throw new IllegalArgumentException(released);
        }
    }

    @Override
    public int capacity(ByteBuf buffer) {
        return buffer.capacity();
    }

    @Override
    public void put(ByteBuf buffer, int index, byte value) {
        buffer.setByte(index, value);
    }

    @Override
    public byte get(ByteBuf buffer, int index) {
        return buffer.getByte(index);
    }

    @Override
    public void close() {
        outstanding.forEach(ByteBuf::release);
    }
}
