// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** The operations on one of the pools. */
final class PoolSide<B> implements Side {
    private final String name;
    private final String source;
    private final Map<String, Object> profile;
    private final Function<Asked, Pool<B>> maker;
    private final Map<String, B> granted = new HashMap<>();
    private Asked asked;
    private Pool<B> pool;

    private PoolSide(
            String name,
            String source,
            Map<String, Object> profile,
            Function<Asked, Pool<B>> maker) {
        this.name = name;
        this.source = source;
        this.profile = profile;
        this.maker = maker;
    }

    static boolean isNamed(String word) {
        return word.endsWith("-pool");
    }

    static PoolSide<?> named(String word) {
        return switch (word) {
            case "producer-pool" -> new PoolSide<>(
                    "Apache Kafka BufferPool", "https://github.com/apache/kafka",
                    ProducerPool.PROFILE, ProducerPool::new);
            case "netty-pool" -> new PoolSide<>(
                    "Netty PooledByteBufAllocator", "https://github.com/netty/netty",
                    NettyPool.PROFILE, asked -> new NettyPool());
            default -> throw new IllegalArgumentException("there is no pool '" + word + "' here");
        };
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String source() {
        return source;
    }

    @Override
    public Map<String, Object> components() {
        return Map.of("memory_pool", profile);
    }

    @Override
    public void open(JsonObject configuration) {
        asked = new Asked(
                Main.number(configuration, "size_bytes", 100),
                small(Main.number(configuration, "max_single_bytes", 40)));
        pool = maker.apply(asked);
    }

    @Override
    public void end() {
        granted.clear();
        if (pool != null) {
            pool.close();
            pool = null;
        }
    }

    @Override
    public void carryOut(JsonObject operation, JsonObject reply) {
        JsonObject observed = new JsonObject();
        observed.add("buffer_bytes", JsonNull.INSTANCE);
        try {
            switch (operation.get("op").getAsString()) {
                case "allocate" -> allocate(operation, reply, observed);
                case "release" -> release(operation);
                case "fill" -> fill(buffer(operation), operation.get("value").getAsByte());
                case "read" -> reply.addProperty("result", read(buffer(operation)));
                default -> throw new UnsupportedOperationException("no such operation here");
            }
        } catch (IllegalArgumentException refused) {
            reply.addProperty("rejected", "invalid_argument");
        } catch (OutOfMemoryError none) {
            reply.addProperty("rejected", "no_memory");
        }
        Main.GSON.toJsonTree(pool.observed()).getAsJsonObject().asMap().forEach(observed::add);
        reply.add("observed", observed);
    }

    private void allocate(JsonObject operation, JsonObject reply, JsonObject observed) {
        int sizeBytes = small(operation.get("size_bytes").getAsLong());
        boolean fails = operation.has("fail") && operation.get("fail").getAsBoolean();
        if (fails) {
            pool.fail(true);
        }
        try {
            B buffer = pool.allocate(sizeBytes);
            reply.addProperty("result", buffer != null);
            if (buffer != null) {
                granted.put(operation.get("buffer").getAsString(), buffer);
                observed.addProperty("buffer_bytes", pool.capacity(buffer));
            }
        } finally {
            if (fails) {
                pool.fail(false);
            }
        }
    }

    private void release(JsonObject operation) {
        if (operation.has("form") && !operation.get("form").getAsString().equals("itself")) {
            throw new UnsupportedOperationException("there is no such form here");
        }
        pool.release(buffer(operation));
    }

    private B buffer(JsonObject operation) {
        return granted.get(operation.get("buffer").getAsString());
    }

    private void fill(B buffer, byte value) {
        for (int i = 0; i < pool.capacity(buffer); i++) {
            pool.put(buffer, i, value);
        }
    }

    /** The byte that the buffer has all over; -1 if its bytes differ or there are none. */
    private int read(B buffer) {
        int sizeBytes = pool.capacity(buffer);
        for (int i = 0; i < sizeBytes; i++) {
            if (pool.get(buffer, i) != pool.get(buffer, 0)) {
                return -1;
            }
        }
        return sizeBytes == 0 ? -1 : Byte.toUnsignedInt(pool.get(buffer, 0));
    }

    private static int small(long number) {
        if ((int) number != number) {
            throw new UnsupportedOperationException("a buffer's size is an int of 32 bits here");
        }
        return (int) number;
    }

    /** The configuration of an instance. */
    record Asked(long sizeBytes, int maxSingleBytes) {
    }
}
