// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Counts runs of tasks, all in one thread: who leads the clock, or the one that a timer runs tasks in.
 *
 * <p>Were there two, a lost count would be taken for a task that has not run, never the reverse.
 */
public final class Tally {

    private static final long PATIENCE_S = 120;

    private final int expected;
    private final CountDownLatch all = new CountDownLatch(1);
    private int runs;
    private int repeats;

    /** Of tasks that are all to run. */
    public Tally(int expected) {
        this.expected = expected;
    }

    /** Of tasks none of which is to run. */
    public static Tally ofNone() {
        return new Tally(0);
    }

    /** One run; whether the same task has run before. */
    public void ran(boolean before) {
        if (before) {
            repeats++;
        }
        if (++runs == expected) {
            all.countDown();
        }
    }

    /** Waits until as many have run as are expected. */
    public void awaitAll() throws InterruptedException {
        if (!all.await(PATIENCE_S, TimeUnit.SECONDS)) {
            throw new CheckFailed("not all tasks have run within " + PATIENCE_S + " s");
        }
    }

    /** Each task has run exactly once; to be called when no thread runs tasks any more. */
    public void check() {
        CheckFailed.unlessEqual(0, repeats, "tasks that ran again");
        CheckFailed.unlessEqual(expected, runs, "tasks that ran");
    }
}
