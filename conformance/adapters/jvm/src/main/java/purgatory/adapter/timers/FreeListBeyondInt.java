// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;

/**
 * Asks the {@code BufferPool} of a Kafka producer for a record's buffer, when all its memory is
 * free and it keeps one batch fewer than 2^31 bytes have, and then just as many.
 */
final class FreeListBeyondInt {
    private static final long BUFFER_MEMORY = 4L << 30;
    private static final int BATCH_SIZE = 16384; // the producer's default
    private static final int RECORD_BYTES = 20_000; // anything but a batch
    private static final int ENOUGH = (int) ((1L << 31) / BATCH_SIZE);

    private FreeListBeyondInt() {
    }

    public static void main(String[] none) throws InterruptedException {
        for (int batches = ENOUGH - 1; batches <= ENOUGH; batches++) {
            BufferPool pool = new OfNoMemory();
            List<ByteBuffer> all = new ArrayList<>();
            while (all.size() < batches) {
                all.add(pool.allocate(BATCH_SIZE, 0));
            }
            all.forEach(pool::deallocate);
            System.out.println(batches + " batches kept, " + pool.availableMemory() + " of "
                    + pool.totalMemory() + " bytes available: " + askedOf(pool));
        }
    }

    private static String askedOf(BufferPool pool) throws InterruptedException {
        try {
            return "granted " + pool.allocate(RECORD_BYTES, 100).capacity();
        } catch (BufferExhaustedException exhausted) {
            return "exhausted after 100 ms";
        }
    }

    /** Its batches share one memory, since nobody writes. */
    private static final class OfNoMemory extends BufferPool {
        private static final ByteBuffer BATCH = ByteBuffer.allocate(BATCH_SIZE);

        OfNoMemory() {
            super(BUFFER_MEMORY, BATCH_SIZE, new Metrics(), Time.SYSTEM, "judged");
        }

        @Override
        protected ByteBuffer allocateByteBuffer(int sizeBytes) {
            return sizeBytes == BATCH_SIZE
                    ? BATCH.duplicate()
                    : super.allocateByteBuffer(sizeBytes);
        }
    }
}
