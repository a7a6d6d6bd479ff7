// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import java.lang.ref.Reference;

/**
 * Bytes of heap per pending timer, its task included; the task has no fields of its own.
 *
 * @param <H> what an add gives
 * @param maker of the timer, on the real clock
 */
public record TimerMemory<H>(MeasuredTimer.Maker<H> maker) implements Measure {

    @Override
    public Answer take(Request request) throws Exception {
        int[] delays = Delays.FAR.draw(request.draws(), request.count("pending", 1));
        try (MeasuredTimer<H> timer = maker.make(Delays.FAR.largestMs())) {
            long before = Heap.usedBytes();
            Stopwatch watch = Stopwatch.start();
            for (int delayMs : delays) {
                timer.addBare(delayMs);
            }
            watch.stopThread();
            timer.settle();
            Costs costs = watch.stop();
            double bytes = Heap.grownSince(before) / (double) delays.length;
            CheckFailed.unlessEqual(delays.length, timer.pending(), "timers pending");
            Reference.reachabilityFence(delays);
            return new Answer(delays.length, costs).with("bytes", bytes).with("how", Heap.HOW);
        }
    }
}
