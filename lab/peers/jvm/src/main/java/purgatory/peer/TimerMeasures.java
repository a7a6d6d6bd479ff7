// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import java.util.Map;

/**
 * The measures of a timer, for one way to lead its clock.
 *
 * @param <H> what an add gives
 */
public final class TimerMeasures<H> {

    /** Which of the pending timers gives way. */
    private enum Victim { OLDEST, ANY }

    private final MeasuredTimer.Maker<H> maker;
    private final Delays pendingDelays;
    private final Delays expiringDelays;
    private final boolean oneThread;

    private TimerMeasures(
            MeasuredTimer.Maker<H> maker, Delays pendingDelays, Delays expiringDelays,
            boolean oneThread) {
        this.maker = maker;
        this.pendingDelays = pendingDelays;
        this.expiringDelays = expiringDelays;
        this.oneThread = oneThread;
    }

    /** The caller leads the clock, and tasks run in his thread. */
    public static <H> void putVirtual(Map<String, Measure> measures, MeasuredTimer.Maker<H> maker) {
        new TimerMeasures<>(maker, Delays.VIRTUAL, Delays.VIRTUAL, true).put(measures, "/virtual");
    }

    /** The real clock, and a thread of the timer's own. */
    public static <H> void putSystem(Map<String, Measure> measures, MeasuredTimer.Maker<H> maker) {
        new TimerMeasures<>(maker, Delays.FAR, Delays.NEAR, false).put(measures, "/system");
    }

    private void put(Map<String, Measure> measures, String clock) {
        measures.put("hot" + clock, this::hot);
        measures.put("fifo" + clock, request -> replace(request, Victim.OLDEST));
        measures.put("random" + clock, request -> replace(request, Victim.ANY));
        measures.put("expire" + clock, this::expire);
    }

    private Answer hot(Request request) throws Exception {
        SplitMix draws = request.draws();
        int[] first = pendingDelays.draw(draws, request.count("pending", 0));
        int[] fresh = pendingDelays.draw(draws, request.count("operations", 1));
        Tally tally = Tally.ofNone();
        Costs costs;
        try (MeasuredTimer<H> timer = maker.make(pendingDelays.largestMs())) {
            for (int delayMs : first) {
                timer.add(delayMs, tally);
            }
            timer.settle();
            Stopwatch watch = Stopwatch.start();
            for (int delayMs : fresh) {
                timer.cancel(timer.add(delayMs, tally));
            }
            costs = end(watch, timer, first.length);
        }
        tally.check();
        return new Answer(fresh.length, costs);
    }

    private Answer replace(Request request, Victim victim) throws Exception {
        SplitMix draws = request.draws();
        int[] first = pendingDelays.draw(draws, request.count("pending", 1));
        int[] fresh = new int[request.count("operations", 1)];
        int[] victims = new int[fresh.length];
        for (int i = 0; i < fresh.length; i++) {
            victims[i] = victim == Victim.ANY ? draws.below(first.length) : i % first.length;
            fresh[i] = pendingDelays.draw(draws);
        }
        Tally tally = Tally.ofNone();
        Costs costs;
        try (MeasuredTimer<H> timer = maker.make(pendingDelays.largestMs())) {
            H[] handles = handles(timer, first, tally);
            timer.settle();
            Stopwatch watch = Stopwatch.start();
            for (int i = 0; i < fresh.length; i++) {
                timer.cancel(handles[victims[i]]);
                handles[victims[i]] = timer.add(fresh[i], tally);
            }
            costs = end(watch, timer, first.length);
        }
        tally.check();
        return new Answer(fresh.length, costs);
    }

    private Answer expire(Request request) throws Exception {
        int[] delays = expiringDelays.draw(request.draws(), request.count("operations", 1));
        Tally tally = new Tally(delays.length);
        Costs costs;
        long addNs;
        try (MeasuredTimer<H> timer = maker.make(expiringDelays.largestMs())) {
            Stopwatch watch = Stopwatch.start();
            for (int delayMs : delays) {
                timer.add(delayMs, tally);
            }
            addNs = watch.threadNs();
            timer.runAll(tally);
            if (oneThread) {
                watch.stopThread();
            }
            costs = watch.stop();
            CheckFailed.unlessEqual(0, timer.pending(), "timers left");
        }
        tally.check();
        return new Answer(delays.length, costs).with("add_cpu_ns", addNs);
    }

    @SuppressWarnings("unchecked")
    private static <H> H[] handles(MeasuredTimer<H> timer, int[] delays, Tally tally) {
        Object[] handles = new Object[delays.length];
        for (int i = 0; i < delays.length; i++) {
            handles[i] = timer.add(delays[i], tally);
        }
        return (H[]) handles;
    }

    private static Costs end(Stopwatch watch, MeasuredTimer<?> timer, int pending)
            throws InterruptedException {
        watch.stopThread();
        timer.settle();
        Costs costs = watch.stop();
        CheckFailed.unlessEqual(pending, timer.pending(), "timers pending");
        return costs;
    }
}
