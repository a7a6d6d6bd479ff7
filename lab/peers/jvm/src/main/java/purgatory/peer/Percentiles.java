// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import java.util.Arrays;

/** Exact percentiles of measured values, by nearest rank. */
public final class Percentiles {

    private final long[] sorted;

    /** Of the first {@code count} values, which are left as they are. */
    public Percentiles(long[] values, int count) {
        if (count == 0) {
            throw new CheckFailed("nothing was measured");
        }
        sorted = Arrays.copyOf(values, count);
        Arrays.sort(sorted);
    }

    /** The smallest value that at least this share of all values does not exceed. */
    public long at(double share) {
        int rank = (int) Math.ceil(share * sorted.length);
        return sorted[Math.max(rank, 1) - 1];
    }

    public long largest() {
        return sorted[sorted.length - 1];
    }
}
