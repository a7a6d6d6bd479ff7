// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import java.util.Arrays;

/**
 * Gaps between neighbouring instants, in nanoseconds, kept exactly in bounded room.
 *
 * <p>Short ones are counted by length. Long ones are kept one by one: a given time has room for few.
 */
final class Gaps {

    private static final int SHORT_NS = 1 << 16;

    private final long[] counts = new long[SHORT_NS];
    private final long[] longOnes;
    private int longCount;

    /** For instants that lie within so many nanoseconds, or once beyond. */
    Gaps(long withinNs) {
        longOnes = new long[Math.toIntExact(withinNs / SHORT_NS + 2)];
    }

    void note(long gapNs) {
        if (gapNs < SHORT_NS) {
            counts[(int) gapNs]++;
        } else {
            longOnes[longCount++] = gapNs;
        }
    }

    long count() {
        return Arrays.stream(counts).sum() + longCount;
    }

    /** The smallest gap that at least this share of all gaps does not exceed; 1 for the longest. */
    long at(double share) {
        long rank = Math.max(1, (long) Math.ceil(share * count()));
        for (int gapNs = 0; gapNs < SHORT_NS; gapNs++) {
            rank -= counts[gapNs];
            if (rank <= 0) {
                return gapNs;
            }
        }
        long[] sorted = Arrays.copyOf(longOnes, longCount);
        Arrays.sort(sorted);
        return sorted[Math.toIntExact(rank) - 1];
    }
}
