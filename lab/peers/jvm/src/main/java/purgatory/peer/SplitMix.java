// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

/** The generator of all inputs: splitmix64. */
public final class SplitMix {

    private static final long GOLDEN = 0x9E3779B97F4A7C15L;
    private static final double TWO_TO_MINUS_53 = 0x1.0p-53;

    private long state;

    public SplitMix(long seed) {
        state = seed;
    }

    public long next() {
        state += GOLDEN;
        long mixed = state;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }

    /** From 0 to {@code bound - 1}. */
    public int below(int bound) {
        return (int) ((next() >>> 33) % bound);
    }

    /** Above 0, at most 1. */
    public double uniform() {
        return 1.0 - (next() >>> 11) * TWO_TO_MINUS_53;
    }

    /** Exponential with mean 1; one number of the generator. */
    public double exponential() {
        return -Math.log(uniform());
    }

    /** Standard normal, by Box and Muller; two numbers of the generator. */
    public double normal() {
        double radius = Math.sqrt(-2 * Math.log(uniform()));
        return radius * Math.cos(2 * Math.PI * uniform());
    }
}
