// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.nio.ByteBuffer;
import org.apache.kafka.common.memory.MemoryPool;

/** One of Kafka's memory pools, with the buffers that it granted by their names. */
final class MemoryPoolSubject implements Component {

    private final boolean leakTracking;
    private PoolMaker maker;
    private MemoryPool pool;
    private DrySpells drySpells;
    private GrantedBuffers buffers;
    private Integer grantedBytes;

    MemoryPoolSubject(boolean leakTracking) {
        this.leakTracking = leakTracking;
    }

    @Override
    public JsonObject profile() {
        JsonArray features = Json.words(
                "strict", "non_strict", "construct", "release_again", "release_slice",
                "release_copy", "release_foreign", "release_nothing", "fill");
        features.add(leakTracking ? "leak_detection" : "unbounded");
        JsonObject profile = new JsonObject();
        profile.addProperty("release_validation", leakTracking ? "identity" : "none");
        profile.add("features", features);
        profile.add("observables", Json.words(
                "available_bytes", "used_bytes", "size_bytes", "out_of_memory", "buffer_bytes",
                "depleted_spells"));
        return profile;
    }

    @Override
    public void open(JsonObject configuration) {
        close();
        long sizeBytes = Json.integer(configuration, "size_bytes", 100);
        int maxSingleBytes = Json.small(configuration, "max_single_bytes", 40);
        boolean strict = Json.truth(configuration, "strict", false);
        boolean unbounded = Json.truth(configuration, "unbounded", false);
        if (unbounded && leakTracking) {
            throw new Unsupported("the pool that is none tracks no leaks");
        }
        drySpells = new DrySpells();
        maker = new PoolMaker(leakTracking, strict);
        pool = unbounded
                ? MemoryPool.NONE
                : maker.make(sizeBytes, maxSingleBytes, drySpells.sensor());
        buffers = new GrantedBuffers();
    }

    @Override
    public void close() {
        PoolMaker.drop(pool);
        pool = null;
        buffers = null;
        if (drySpells != null) {
            drySpells.close();
            drySpells = null;
        }
    }

    @Override
    public void perform(JsonObject operation, JsonObject reply) {
        grantedBytes = null;
        decode(operation).attempt(reply, Rejection::reason);
        reply.add("observed", observed());
    }

    private Call decode(JsonObject operation) {
        String word = Json.text(operation, "op");
        return switch (word) {
            case "allocate" -> allocate(
                    Json.text(operation, "buffer"),
                    Json.small(operation, "size_bytes"),
                    Json.truth(operation, "fail", false));
            case "release" -> release(
                    Json.text(operation, "buffer"),
                    operation.has("form") ? Json.text(operation, "form") : "itself");
            case "release_foreign" -> releaseForeign(Json.small(operation, "size_bytes"));
            case "release_nothing" -> released(() -> null);
            case "lose" -> lose(Json.text(operation, "buffer"));
            case "fill" -> fill(Json.text(operation, "buffer"), Json.small(operation, "value"));
            case "read" -> read(Json.text(operation, "buffer"));
            case "construct" -> construct(
                    Json.integer(operation, "size_bytes"),
                    Json.small(operation, "max_single_bytes"));
            default -> throw new Unsupported("there is no operation '" + word + "' here");
        };
    }

    /** Nothing makes an allocation fail but its size: no JVM has an array of 2^31 - 1 bytes. */
    private Call allocate(String name, int sizeBytes, boolean fail) {
        return () -> {
            ByteBuffer buffer;
            try {
                buffer = pool.tryAllocate(sizeBytes);
            } catch (OutOfMemoryError none) {
                if (fail) {
                    throw new NoMemory(none);
                }
                throw none;
            }
            if (buffer != null) {
                grantedBytes = buffer.capacity();
                buffers.keep(name, buffer);
            }
            return new JsonPrimitive(buffer != null);
        };
    }

    private Call release(String name, String form) {
        return switch (form) {
            case "itself" -> () -> {
                pool.release(buffers.get(name));
                buffers.noteRelease(name);
                return null;
            };
            case "slice" -> released(() -> buffers.get(name).duplicate());
            case "copy" -> released(() -> ByteBuffer.allocate(buffers.get(name).capacity()));
            default -> throw new Unsupported("there is no form '" + form + "' here");
        };
    }

    private Call releaseForeign(int sizeBytes) {
        if (sizeBytes < 0) {
            throw new Unsupported("Java has no buffer of fewer than 0 bytes");
        }
        return released(() -> ByteBuffer.allocate(sizeBytes));
    }

    private interface Look {
        ByteBuffer alike();
    }

    private Call released(Look look) {
        return () -> {
            pool.release(look.alike());
            return null;
        };
    }

    private Call lose(String name) {
        if (!leakTracking) {
            throw new Unsupported("this pool notices no loss");
        }
        return () -> {
            buffers.lose(name, pool);
            return null;
        };
    }

    private Call fill(String name, int value) {
        return () -> {
            ByteBuffer buffer = buffers.get(name);
            for (int i = 0; i < buffer.capacity(); i++) {
                buffer.put(i, (byte) value);
            }
            return null;
        };
    }

    /** The byte that the buffer has all over; -1 if its bytes differ or there are none. */
    private Call read(String name) {
        return () -> {
            ByteBuffer buffer = buffers.get(name);
            int size = buffer.capacity();
            int first = size == 0 ? -1 : Byte.toUnsignedInt(buffer.get(0));
            for (int i = 1; i < size; i++) {
                if (buffer.get(i) != buffer.get(0)) {
                    return new JsonPrimitive(-1);
                }
            }
            return new JsonPrimitive(first);
        };
    }

    private Call construct(long sizeBytes, int maxSingleBytes) {
        return () -> {
            PoolMaker.drop(maker.make(sizeBytes, maxSingleBytes, null));
            return null;
        };
    }

    private JsonObject observed() {
        JsonElement granted =
                grantedBytes == null ? JsonNull.INSTANCE : new JsonPrimitive(grantedBytes);
        JsonObject observed = new JsonObject();
        observed.add("available_bytes", Json.integer(pool.availableMemory()));
        observed.add("used_bytes", Json.integer(pool.size() - pool.availableMemory()));
        observed.add("size_bytes", Json.integer(pool.size()));
        observed.addProperty("out_of_memory", pool.isOutOfMemory());
        observed.add("buffer_bytes", granted);
        observed.addProperty("depleted_spells", drySpells.ended());
        return observed;
    }
}
