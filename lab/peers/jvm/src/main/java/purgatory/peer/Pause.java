// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The longest time that an add and a cancel can take while other timers fall due.
 *
 * @param <H> what an add gives
 * @param maker of the timer, on the real clock
 */
public record Pause<H>(MeasuredTimer.Maker<H> maker) implements Measure {

    private static final int HOT_DELAYS = 1 << 16;
    private static final int LEAST_MS = 2_000;
    private static final int DUE_SPAN_MS = 1_000;
    /** Time that is planned for adding one of the timers that fall due. */
    private static final long ADD_NS = 5_000;
    private static final long SPARE_NS = TimeUnit.MILLISECONDS.toNanos(1_000);

    @Override
    public Answer take(Request request) throws Exception {
        SplitMix draws = request.draws();
        int[] offsetsMs = new Delays(0, DUE_SPAN_MS).draw(draws, request.count("pending", 1));
        int[] hotMs = Delays.FAR.draw(draws, HOT_DELAYS);
        int lengthMs = request.count("operations", LEAST_MS);
        long lengthNs = TimeUnit.MILLISECONDS.toNanos(lengthMs);
        Gaps gaps = new Gaps(lengthNs);
        Tally due = new Tally(offsetsMs.length);
        Tally hot = Tally.ofNone();
        Costs costs;
        try (MeasuredTimer<H> timer = maker.make(Delays.FAR.largestMs())) {
            long beginNs = System.nanoTime() + SPARE_NS + offsetsMs.length * ADD_NS;
            long dueFromMs = TimeUnit.NANOSECONDS.toMillis(beginNs) + (lengthMs - DUE_SPAN_MS) / 2;
            for (int offsetMs : offsetsMs) {
                long nowMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
                timer.add(Math.toIntExact(dueFromMs + offsetMs - nowMs), due);
            }
            timer.settle();
            Heap.collect();
            awaitInstant(beginNs);
            costs = addAndCancel(timer, hotMs, hot, lengthNs, gaps);
            timer.runAll(due);
            timer.settle();
            CheckFailed.unlessEqual(0, timer.pending(), "timers left");
        }
        due.check();
        hot.check();
        return new Answer(lengthMs, costs)
                .with("pairs", gaps.count())
                .with("max_ms", gaps.at(1) / 1e6)
                .with("p999_ms", gaps.at(0.999) / 1e6);
    }

    private static void awaitInstant(long beginNs) {
        if (System.nanoTime() > beginNs) {
            throw new CheckFailed("the timers took longer to add than was planned");
        }
        for (long left = beginNs - System.nanoTime(); left > 0;
                left = beginNs - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static <H> Costs addAndCancel(
            MeasuredTimer<H> timer, int[] delaysMs, Tally tally, long lengthNs, Gaps gaps) {
        Stopwatch watch = Stopwatch.startWithoutCollecting();
        int turn = 0;
        long beginNs = System.nanoTime();
        long lastNs = beginNs;
        while (lastNs - beginNs < lengthNs) {
            timer.cancel(timer.add(delaysMs[turn++ & (HOT_DELAYS - 1)], tally));
            long nowNs = System.nanoTime();
            gaps.note(nowNs - lastNs);
            lastNs = nowNs;
        }
        watch.stopThread();
        return watch.stop();
    }
}
