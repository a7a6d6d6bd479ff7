// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import java.util.Map;

/** One of the pools, as the adapter drives it; its buffers are of a type of its own. */
interface Pool<B> {
    /**
     * A buffer, or null where there is no memory for it now.
     *
     * @throws IllegalArgumentException it can never be granted
     */
    B allocate(int sizeBytes);

    /**
     * Takes a buffer back.
     *
     * @throws IllegalArgumentException it is not outstanding
     */
    void release(B buffer);

    int capacity(B buffer);

    void put(B buffer, int index, byte value);

    byte get(B buffer, int index);

    /** Lets the machine have no memory for a buffer, or have it again. */
    default void fail(boolean fails) {
        throw new UnsupportedOperationException("nothing here makes an allocation fail");
    }

    /** What can be read of it, by the names of the protocol. */
    default Map<String, Object> observed() {
        return Map.of();
    }

    default void close() {
    }
}
