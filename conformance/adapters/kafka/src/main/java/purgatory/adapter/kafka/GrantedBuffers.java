// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.memory.MemoryPool;

/** The buffers that a pool granted, held so that none is lost but on request. */
final class GrantedBuffers {

    private static final long NOTICED_WITHIN_NS = TimeUnit.SECONDS.toNanos(10);

    private final Map<String, ByteBuffer> byName = new HashMap<>();
    /** Buffers whose name went to a later one. */
    private final List<ByteBuffer> nameless = new ArrayList<>();
    private final Set<String> released = new HashSet<>();

    void keep(String name, ByteBuffer buffer) {
        ByteBuffer former = byName.put(name, buffer);
        if (former != null) {
            nameless.add(former);
        }
        released.remove(name);
    }

    ByteBuffer get(String name) {
        ByteBuffer buffer = byName.get(name);
        if (buffer == null) {
            throw new UnknownName(name);
        }
        return buffer;
    }

    void noteRelease(String name) {
        released.add(name);
    }

    /** Lets the last reference go and has garbage collected until the pool knows. */
    void lose(String name, MemoryPool pool) throws InterruptedException {
        long expected = pool.availableMemory() + get(name).capacity();
        byName.remove(name);
        if (released.remove(name)) {
            return;
        }
        long deadlineNs = System.nanoTime() + NOTICED_WITHIN_NS;
        while (pool.availableMemory() != expected) {
            if (System.nanoTime() > deadlineNs) {
                throw new AdapterFailure("the pool does not notice that '" + name + "' is lost");
            }
            System.gc();
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }
}
