// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import java.io.IOException;
import java.util.concurrent.locks.LockSupport;
import purgatory.peer.Answer;
import purgatory.peer.Costs;
import purgatory.peer.Heap;
import purgatory.peer.Measure;
import purgatory.peer.Percentiles;
import purgatory.peer.Request;
import purgatory.peer.ResidentPeak;
import purgatory.peer.Stopwatch;

/** The proposal's workload: one thread makes requests, a second completes them at their times. */
final class Workload implements Measure {

    private static final double MS = 1e6;
    private static final long TIME_OUT_NS = TimedRequest.TIME_OUT_MS * 1_000_000;

    @Override
    public Answer take(Request request) throws Exception {
        RequestPlan plan = new RequestPlan(request);
        int payload = request.count("payload", 0);
        int purgeInterval = request.has("purge_interval")
                ? request.count("purge_interval", 0) : BrokersPurgatory.PURGE_INTERVAL;
        int requests = plan.requests();
        RequestTally tally = new RequestTally();
        Given given;
        Costs costs;
        Completer completer;
        boolean peakKnown;
        try (BrokersPurgatory<TimedRequest> purgatory = new BrokersPurgatory<>(purgeInterval)) {
            completer = new Completer(requests);
            try (completer) {
                Heap.collect();
                peakKnown = resetPeak();
                completer.start();
                Stopwatch watch = Stopwatch.startWithoutCollecting();
                given = give(plan, payload, purgatory, completer, tally);
                watch.stopThread();
                tally.awaitEnded(requests);
                costs = watch.stop();
            }
        }
        tally.check(requests);
        return answer(requests, given, costs, completer, tally)
                .with("resident_mib", peakKnown ? (Double) ResidentPeak.mebibytes() : null);
    }

    /** How giving all requests went: until the last was given, and the longest that one took. */
    private record Given(long untilLastNs, long longestNs) {
    }

    private static Given give(
            RequestPlan plan, int payload, BrokersPurgatory<TimedRequest> purgatory,
            Completer completer, RequestTally tally) {
        long longestNs = 0;
        long beginNs = System.nanoTime();
        double plannedNs = 0;
        for (int i = 0; i < plan.requests(); i++) {
            plannedNs += plan.intervalNs(i);
            long beganNs = awaitInstant(beginNs + (long) plannedNs);
            TimedRequest request =
                    new TimedRequest(payload, plan.keys(i), beganNs + plan.timeNs(i), tally);
            purgatory.watch(request, request.keys());
            if (plan.timeNs(i) < TIME_OUT_NS) {
                completer.hand(request);
            }
            longestNs = Math.max(longestNs, System.nanoTime() - beganNs);
        }
        return new Given(System.nanoTime() - beginNs, longestNs);
    }

    /** Parks while the instant lies ahead, and gives the reading of the clock that no longer does. */
    private static long awaitInstant(long instantNs) {
        long nowNs = System.nanoTime();
        while (nowNs < instantNs) {
            LockSupport.parkNanos(instantNs - nowNs);
            nowNs = System.nanoTime();
        }
        return nowNs;
    }

    private static boolean resetPeak() {
        try {
            ResidentPeak.reset();
            return true;
        } catch (IOException notAllowed) {
            return false;
        }
    }

    private static Answer answer(
            int requests, Given given, Costs costs, Completer completer, RequestTally tally) {
        Percentiles lags = completer.lags();
        return new Answer(requests, costs)
                .with("achieved", requests * 1e9 / given.untilLastNs())
                .with("cpu_us", costs.processCpuNs() / 1e3 / requests)
                .with("lag_p50_ms", lags.at(0.5) / MS)
                .with("lag_p99_ms", lags.at(0.99) / MS)
                .with("lag_max_ms", lags.largest() / MS)
                .with("pause_max_ms", given.longestNs() / MS)
                .with("completed", tally.completedCount())
                .with("expired", tally.expiredCount());
    }
}
