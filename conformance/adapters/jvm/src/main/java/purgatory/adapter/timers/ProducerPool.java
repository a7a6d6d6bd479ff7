// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;

/** The pool in which a producer of Kafka's keeps its batches. */
final class ProducerPool extends BufferPool implements Pool<ByteBuffer> {
    static final Map<String, Object> PROFILE = Map.of(
            // It is not asked whose a buffer is, nor twice: the documentation says nothing of it.
            "release_validation", "none",
            "zero_request", "grant",
            "features", List.of("strict", "fail", "fill"),
            "observables", List.of("available_bytes", "used_bytes", "size_bytes", "buffer_bytes"));

    private final int maxSingleBytes;
    private boolean fails;

    /** Buffers of the largest size are those that it keeps. */
    ProducerPool(PoolSide.Asked asked) {
        this(asked.sizeBytes(), asked.maxSingleBytes());
    }

    ProducerPool(long sizeBytes, int maxSingleBytes) {
        super(sizeBytes, maxSingleBytes, new Metrics(), Time.SYSTEM, "judged");
        this.maxSingleBytes = maxSingleBytes;
    }

    /** It bounds a request by its own size alone; the largest request is the producer's to check. */
    @Override
    public ByteBuffer allocate(int sizeBytes) {
        if (sizeBytes > maxSingleBytes) {
            throw new IllegalArgumentException("the producer takes no such record");
        }
        try {
            return allocate(sizeBytes, 0);
        } catch (BufferExhaustedException exhausted) {
            return null;
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    @Override
    protected ByteBuffer allocateByteBuffer(int sizeBytes) {
        if (fails) {
            throw new OutOfMemoryError("the suite wants it so");
        }
        return super.allocateByteBuffer(sizeBytes);
    }

    @Override
    public void release(ByteBuffer buffer) {
        deallocate(buffer);
    }

    @Override
    public int capacity(ByteBuffer buffer) {
        return buffer.capacity();
    }

    @Override
    public void put(ByteBuffer buffer, int index, byte value) {
        buffer.put(index, value);
    }

    @Override
    public byte get(ByteBuffer buffer, int index) {
        return buffer.get(index);
    }

    @Override
    public void fail(boolean fails) {
        this.fails = fails;
    }

    @Override
    public Map<String, Object> observed() {
        return Map.of(
                "available_bytes", availableMemory(),
                "used_bytes", totalMemory() - availableMemory(),
                "size_bytes", totalMemory());
    }
}
