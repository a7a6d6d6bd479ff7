// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

/** The subject did not do what was measured; the figures are withheld and {@code error} is answered. */
public final class CheckFailed extends RuntimeException {

    private static final long serialVersionUID = 1;

    public CheckFailed(String problem) {
        super(problem);
    }

    /** Compares a count with what it must be. */
    public static void unlessEqual(long expected, long found, String what) {
        if (expected != found) {
            throw new CheckFailed(what + ": expected " + expected + ", found " + found);
        }
    }
}
