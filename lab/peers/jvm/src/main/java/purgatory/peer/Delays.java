// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

/**
 * A range that delays are drawn from, in milliseconds.
 *
 * @param lowestMs the smallest
 * @param span how many whole milliseconds there are
 */
public record Delays(int lowestMs, int span) {

    /** For a clock that the caller leads. */
    public static final Delays VIRTUAL = new Delays(1, 60_000);
    /** For the real clock, so that nothing expires while it is measured. */
    public static final Delays FAR = new Delays(60_000, 60_000);
    /** For the real clock, to expire. */
    public static final Delays NEAR = new Delays(1, 2_000);

    public int draw(SplitMix draws) {
        return lowestMs + draws.below(span);
    }

    public int[] draw(SplitMix draws, int count) {
        int[] drawn = new int[count];
        for (int i = 0; i < count; i++) {
            drawn[i] = draw(draws);
        }
        return drawn;
    }

    public int largestMs() {
        return lowestMs + span - 1;
    }
}
