// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

/** The reading of the virtual clock, which a clock of the released classes' own type hands on. */
public final class VirtualClock {

    private static volatile long nowMs;

    private VirtualClock() {
    }

    public static long nowMs() {
        return nowMs;
    }

    static void set(long readingMs) {
        nowMs = readingMs;
    }
}
