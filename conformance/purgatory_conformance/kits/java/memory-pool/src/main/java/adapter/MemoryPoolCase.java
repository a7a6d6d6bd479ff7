// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The pool behind the protocol: each step becomes a call. Change names until it calls yours. */
final class MemoryPoolCase extends Case {
    /** What is not declared here is neither asked for nor compared. */
    static final Map<String, Object> PROFILE = Map.of(
            "release_validation", "identity",
            "features", List.of(
                    "strict", "non_strict", "construct", "release_again", "release_slice", "release_copy",
                    "release_foreign", "release_nothing", "elapse", "fail", "fill"),
            "observables", List.of(
                    "available_bytes", "used_bytes", "size_bytes", "out_of_memory", "buffer_bytes",
                    "depleted_spells", "depleted_ms"));

    private final NaiveMemoryPool pool;
    private final Map<String, ByteBuffer> buffers = new HashMap<>();
    private Integer bufferBytes; // what this step was granted

    MemoryPoolCase(Protocol.Configuration asked) {
        pool = new NaiveMemoryPool(asked.sizeBytes(), asked.maxSingleBytes(), asked.strict());
    }

    @Override
    Map<Class<? extends Throwable>, String> reasons() {
        return Map.of(
                IllegalArgumentException.class, "invalid_argument", NaiveMemoryPool.NoMemory.class, "no_memory");
    }

    @Override
    Object call(Protocol.Operation asked) {
        bufferBytes = null;
        switch (asked.op()) {
            case "allocate" -> {
                pool.allocator = asked.fail() ? MemoryPoolCase::noMemory : NaiveMemoryPool::newBuffer;
                ByteBuffer granted = pool.tryAllocate(asked.sizeBytes());
                if (granted != null) {
                    buffers.put(asked.buffer(), granted);
                    bufferBytes = granted.capacity();
                }
                return granted != null;
            }
            case "release" -> pool.release(formOf(asked));
            case "release_foreign" -> pool.release(NaiveMemoryPool.newBuffer(asked.sizeBytes()));
            case "release_nothing" -> pool.release(null);
            case "fill" -> {
                ByteBuffer known = named(asked);
                for (int i = 0; i < known.capacity(); i++) {
                    known.put(i, (byte) asked.value());
                }
            }
            case "read" -> {
                return allOver(named(asked));
            }
            case "construct" -> new NaiveMemoryPool(asked.sizeBytes(), asked.maxSingleBytes(), false);
            case "elapse" -> pool.nowMs = asked.toMs();
            default -> throw new Unsupported();
        }
        return null;
    }

    /** Stands in for the allocator where it is to fail. */
    private static ByteBuffer noMemory(long bytes) {
        throw new NaiveMemoryPool.NoMemory(null);
    }

    /** The byte that is everywhere, or -1. */
    private static int allOver(ByteBuffer buffer) {
        for (int i = 1; i < buffer.capacity(); i++) {
            if (buffer.get(i) != buffer.get(0)) {
                return -1;
            }
        }
        return buffer.capacity() == 0 ? -1 : Byte.toUnsignedInt(buffer.get(0));
    }

    private ByteBuffer named(Protocol.Operation asked) {
        ByteBuffer known = buffers.get(asked.buffer());
        if (known == null) {
            throw new UnknownName();
        }
        return known;
    }

    private ByteBuffer formOf(Protocol.Operation asked) {
        ByteBuffer known = named(asked);
        return switch (asked.form() == null ? "itself" : asked.form()) {
            case "slice" -> known.duplicate(); // another view of the memory
            case "copy" -> NaiveMemoryPool.newBuffer(known.capacity()); // other memory
            default -> known;
        };
    }

    @Override
    Map<String, Object> observed() {
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("available_bytes", pool.availableBytes());
        seen.put("used_bytes", pool.sizeBytes() - pool.availableBytes());
        seen.put("size_bytes", pool.sizeBytes());
        seen.put("out_of_memory", pool.availableBytes() <= 0);
        seen.put("buffer_bytes", bufferBytes);
        seen.put("depleted_spells", pool.depletedSpells());
        seen.put("depleted_ms", pool.depletedMs());
        return seen;
    }
}
