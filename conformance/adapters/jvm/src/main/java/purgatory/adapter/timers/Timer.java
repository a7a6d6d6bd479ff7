// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import java.util.Map;

/** One of the timers, as the adapter drives it. */
interface Timer {
    /**
     * Arms a task, or moves its arming.
     *
     * @throws InvalidDelay the delay is refused for what else it is
     * @throws IllegalArgumentException the delay is too large
     * @throws IllegalStateException the timer is closed
     */
    void add(String task, long delayMs);

    /** Disarms a task; one that is not armed is no error. */
    void cancel(String task);

    /** On a clock that the suite moves: it reads this from now on. */
    default void elapse(long toMs) {
        throw new UnsupportedOperationException("this clock moves by itself");
    }

    /** On such a clock: expires what is due; whether anything was. */
    default boolean advance() {
        throw new UnsupportedOperationException("this clock moves by itself");
    }

    /** What can be read of it, by the names of the protocol. */
    default Map<String, Object> observed() {
        return Map.of();
    }

    /** Shuts it down; a second time is no error. */
    default void close() {
    }
}
