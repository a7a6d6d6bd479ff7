// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

/**
 * A timer as the measures need it.
 *
 * @param <H> what an add gives, to cancel by
 */
public interface MeasuredTimer<H> extends AutoCloseable {

    /** Adds a fresh task that counts its runs. */
    H add(int delayMs, Tally tally);

    /** Adds a fresh task that has no fields of its own. */
    void addBare(int delayMs);

    void cancel(H handle);

    /** Leads the clock to the end, or waits for it, until every task of the tally has run. */
    void runAll(Tally tally) throws InterruptedException;

    /** Waits until other threads have done what calls so far have left to them. */
    void settle() throws InterruptedException;

    /** How many timers are pending. */
    long pending();

    /** Ends its threads; no task runs after that. */
    @Override
    void close() throws Exception;

    /** Makes a timer that serves delays up to the largest, in milliseconds. */
    @FunctionalInterface
    interface Maker<H> {
        MeasuredTimer<H> make(int largestMs);
    }
}
